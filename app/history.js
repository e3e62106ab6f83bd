export default function ({ parentElement }) {
    parentElement.closest("[data-testid=stElementContainer]")?.style.setProperty("display", "none")
    if (Object.hasOwn(history, "replaceState")) return  // this page has been here before
    const { pushState, replaceState } = history
    let isNew = false
    for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { isNew = true }, true)
    addEventListener("popstate", () => { isNew = false }, true)
    history.pushState = history.replaceState = (state, unused, url) => {
        const stays = new URL(url ?? "", location.href).href === location.href
        ;(isNew && !stays ? pushState : replaceState).call(history, state, unused, url)
        isNew &&= stays
    }
}
