// What a page notes of itself for benchmarks/pages.py: milliseconds since its navigation began, each of the frame in
// which something could be seen.
(() => {
    const QUIET_MS = 700
    const PATIENCE_MS = 30000
    const FIGURES = [
        "[data-testid=stVegaLiteChart] svg :is(.mark-symbol, .mark-rect, .mark-line, .mark-rule) > *",
        "[data-testid=stMain] h2", // the answer of a page, in words
        ".monaco-editor .view-line",
        ...["stMetric", "stTextInput", "stTextArea", "stMultiSelect", "stFileUploader"].map(name => `[data-testid=${name}]`),
    ].join(", ")
    const UNSEEN = "head, canvas, [role=log], [data-testid=stStatusWidget]" // in a canvas and a log for screen readers only
    const seen = {}
    const forget = () => Object.assign(seen, { pressed: 0, begun: 0, ended: 0, changed: 0, shifted: 0, running: false })
    const frame = note => requestAnimationFrame(() => setTimeout(() => note(performance.now())))

    // One note a frame, however much changes in it: each of hundreds would add to what is measured.
    function change() {
        if (seen.noting) return
        seen.noting = true
        requestAnimationFrame(() => {
            seen.noting = false
            setTimeout(() => { seen.changed = Math.max(seen.changed, performance.now()) })
        })
    }

    // The search in the header is no figure.
    const isSeen = element => element.checkVisibility() && !element.closest(".st-key-everywhere")

    function paint() {
        seen.painting || frame(now => { seen.painted = now })
        seen.painting = true
    }

    // A run that changes nothing, after one that the visitor waited for, only looks for a new publication.
    function run(running) {
        if (running && !seen.running) seen.begun = performance.now()
        else if (!running && seen.running)
            frame(now => { if (!seen.ended || seen.changed > seen.begun) seen.ended = now })
        seen.running = running
    }

    function follow({ type, target, attributeName }) {
        const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement
        if (attributeName === "data-test-script-state") {
            run(target.getAttribute(attributeName) !== "notRunning")
        } else if (element && !element.closest(UNSEEN) && (type !== "attributes" || element.closest("svg.marks"))) {
            change()
        }
    }

    forget()
    for (const kind of ["keydown", "pointerdown", "pointerup", "change"])
        addEventListener(kind, event => { seen.pressed = event.timeStamp }, true)
    const write = CanvasRenderingContext2D.prototype.fillText
    const written = new WeakMap() // by canvas: the word at each place, as a table also redraws unchanged words
    CanvasRenderingContext2D.prototype.fillText = function (...given) {
        if (this.canvas.isConnected) {
            const [word, x, y] = given
            const words = written.get(this.canvas) || written.set(this.canvas, new Map()).get(this.canvas)
            if (words.get(`${x} ${y}`) !== word) change()
            words.set(`${x} ${y}`, word)
            paint()
        }
        return write.apply(this, given)
    }
    // Streamlit's bare first frame, which is narrow until the page says that it is wide, has nothing yet to be read.
    new PerformanceObserver(list => {
        for (const { value, hadRecentInput, sources } of list.getEntries())
            if (!hadRecentInput && !sources.every(({ node }) => node?.dataset?.testid === "stMainBlockContainer"))
                seen.shifted += value
    }).observe({ type: "layout-shift", buffered: true })
    new MutationObserver(changes => {
        changes.forEach(follow)
        if (!seen.painting && [...document.querySelectorAll(FIGURES)].some(isSeen)) paint()
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true })

    // Resolves when there is something to see, the script has ended and nothing changed for a while.
    function rest() {
        const end = performance.now() + PATIENCE_MS
        return new Promise((found, fail) => {
            const look = () => {
                const last = Math.max(seen.changed, seen.ended)
                // React does not show a run that begins and ends between two of its frames; what it changed is seen.
                const done = seen.painted && (seen.ended || seen.changed) && !seen.running
                if (done && performance.now() - last > QUIET_MS) found({ ...seen, last })
                else if (performance.now() > end) fail(new Error(`not at rest: ${JSON.stringify(seen)}`))
                else setTimeout(look, 50)
            }
            look()
        })
    }

    window.measured = { forget, rest }
})()
