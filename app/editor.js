// The editor of the SQL page: Monaco, which this app serves, with what the warehouse holds beside it.
const HOME = "/editor"
const KEYWORDS = `select from where group by order by limit join left join inner join on using with as and or not in is null
case when then else end distinct having union all qualify over partition by filter between like asc desc nulls last`
const PALETTES = {
    light: { base: "vs", keyword: "0000ff", string: "a31515", number: "0b6e4f", comment: "556b2f", predefined: "795e26" },
    dark: { base: "vs-dark", keyword: "6cb6ff", string: "f0a98a", number: "b5cea8", comment: "8fb573", predefined: "dcdcaa" },
}

function loaded(worker) {
    window.droplineMonaco ??= new Promise((resolve, reject) => {
        window.MonacoEnvironment = { getWorker: () => new Worker(`${HOME}/${worker}`, { type: "module" }) }
        const style = Object.assign(document.createElement("link"), { rel: "stylesheet" })
        style.href = `${HOME}/editor/editor.main.css`
        const script = Object.assign(document.createElement("script"), { src: `${HOME}/loader.js`, onerror: reject })
        script.onload = () => {
            delete window.define.amd // by which other scripts of the page would take the loader for theirs
            window.require.config({ paths: { vs: HOME } })
            window.require(["vs/editor/editor.main"], () => resolve(register(window.monaco)), reject)
        }
        document.head.append(style, script)
    })
    return window.droplineMonaco
}

function register(monaco) {
    for (const [name, { base, ...colours }] of Object.entries(PALETTES)) {
        const rules = Object.entries(colours).map(([token, foreground]) => ({ token, foreground }))
        for (const [token, alike] of [["string.sql", "string"], ["predefined.sql", "predefined"], ["operator.sql", "keyword"]])
            rules.push({ token, foreground: colours[alike] })
        const ground = name === "dark" ? { "editor.background": "#0e1117" } : { "editor.background": "#ffffff" }
        monaco.editor.defineTheme(`dropline-${name}`, { base, inherit: true, rules, colors: ground })
    }
    monaco.languages.registerCompletionItemProvider("sql", {
        triggerCharacters: [".", " "],
        provideCompletionItems: (model, position) => ({ suggestions: suggestions(monaco, model, position) }),
    })
    monaco.languages.registerHoverProvider("sql", {
        provideHover: (model, position) => {
            const word = model.getWordAtPosition(position)
            const known = word && meaning(model.known, model.getValue(), word.word.toLowerCase())
            return known ? { contents: known.map(value => ({ value: value.replace(/[\\`*_{}[\]<>()#+.!|~-]/g, "\\$&") })) } : null
        },
    })
    return monaco
}

// The tables that a question names, by the name that the question gives each.
function named(known, text) {
    const found = {}
    for (const [, table, alias] of text.matchAll(/\b(?:from|join)\s+([a-z_]\w*)(?:\s+(?:as\s+)?([a-z_]\w*))?/gi)) {
        if (!(table.toLowerCase() in known.tables)) continue
        found[table.toLowerCase()] = table.toLowerCase()
        if (alias && !/^(on|using|where|group|order|join|left|right|inner|full|cross|limit|qualify|having|union)$/i.test(alias))
            found[alias.toLowerCase()] = table.toLowerCase()
    }
    return found
}

function meaning(known, text, word) {
    if (word in known.tables) return [word, known.tables[word].comment]
    for (const table of new Set(Object.values(named(known, text)))) {
        const column = known.tables[table].columns.find(([name]) => name === word)
        if (column) return [`${table}.${column[0]}: ${column[1]}`, column[2]]
    }
    const call = known.functions.find(([each]) => each.startsWith(`${word}(`))
    return call && call.map(each => each ?? "")
}

function suggestions(monaco, model, position) {
    const { known } = model
    const { startColumn } = model.getWordUntilPosition(position)
    const range = new monaco.Range(position.lineNumber, startColumn, position.lineNumber, position.column)
    const before = model.getValueInRange(new monaco.Range(1, 1, position.lineNumber, startColumn))
    const kinds = monaco.languages.CompletionItemKind
    const item = (kind, order) => ([label, detail, documentation]) => ({
        label, kind, detail, documentation: documentation ?? "", insertText: label.replace(/\(.*/s, "("), range,
        sortText: `${order}${label}`,
    })
    const tables = Object.entries(known.tables).map(([name, { comment }]) => [name, "table", comment])
    const inUse = named(known, model.getValue())
    const dotted = before.match(/([a-z_]\w*)\.$/i)
    const of = dotted ? inUse[dotted[1].toLowerCase()] ?? dotted[1].toLowerCase() : null
    if (dotted) return (known.tables[of]?.columns ?? []).map(item(kinds.Field, 1))
    if (/\b(from|join)\s+$/i.test(before)) {
        const rowMakers = known.functions.filter(([, , isTable]) => isTable).map(([call, comment]) => [call, "function", comment])
        return [...tables.map(item(kinds.Struct, 1)), ...rowMakers.map(item(kinds.Function, 2))]
    }
    const columns = [...new Set(Object.values(inUse))].flatMap(table =>
        known.tables[table].columns.map(([name, type, comment]) => [name, `${type}, ${table}`, comment]))
    return [
        ...columns.map(item(kinds.Field, 1)),
        ...KEYWORDS.split(/\s+/).map(each => [each]).map(item(kinds.Keyword, 2)),
        ...known.functions.map(([call, comment]) => [call, "function", comment]).map(item(kinds.Function, 3)),
        ...tables.map(item(kinds.Struct, 4)),
    ]
}

function tree(known, insert) {
    const element = (name, ...children) => {
        const made = document.createElement(name)
        made.append(...children)
        return made
    }
    const entry = (name, type, comment) => {
        const button = element("button", name)
        button.type = "button"
        button.onclick = () => insert(name)
        return element("li", button, element("code", type ?? ""), element("span", comment ?? ""))
    }
    const branch = (name, comment, entries) => {
        const made = element("details", element("summary", name), element("p", comment ?? ""))
        made.ontoggle = () => made.querySelector("ul") ?? made.append(element("ul", ...entries().map(each => entry(...each))))
        return made
    }
    return [
        ...Object.entries(known.tables).map(([name, { comment, columns }]) => branch(name, comment, () => columns)),
        branch("Functions of the warehouse", "", () =>
            known.functions.filter(([, , , isOwn]) => isOwn).map(([call, comment]) => [call, "", comment])),
    ]
}

function isDark(element) {
    const [red, green, blue] = getComputedStyle(element.closest("[data-testid=stApp]")).backgroundColor.match(/\d+/g)
    return Number(red) + Number(green) + Number(blue) < 384
}

export default function ({ parentElement, data, setTriggerValue }) {
    const root = parentElement.querySelector(".sql-editor")
    root.latest = { data, setTriggerValue }
    if (root.editor) return update(root)
    if (root.isLoading) return
    root.isLoading = true
    loaded(data.worker).then(monaco => {
        for (const left of monaco.editor.getEditors()) if (!left.getDomNode()?.isConnected) left.dispose()
        const editor = monaco.editor.create(root.querySelector(".text"), {
            language: "sql", value: data.text, ariaLabel: data.label, theme: `dropline-${isDark(root) ? "dark" : "light"}`,
            automaticLayout: true, minimap: { enabled: false }, scrollBeyondLastLine: false, fontSize: 14, tabSize: 4,
            lineNumbersMinChars: 3, wordWrap: "on", tabFocusMode: true, fixedOverflowWidgets: true, editContext: false,
            unicodeHighlight: { ambiguousCharacters: false }, renderLineHighlight: "none", occurrencesHighlight: "off",
            overviewRulerLanes: 0, contextmenu: false, padding: { top: 8, bottom: 8 }, wordBasedSuggestions: "off",
        })
        root.editor = editor
        root.revision = data.revision
        const run = () => root.latest.setTriggerValue("run", editor.getValue())
        editor.addCommand(monaco.KeyMod.CtrlCmd | monaco.KeyCode.Enter, run)
        root.querySelector(".run").onclick = run
        const insert = name => {
            editor.executeEdits("tree", [{ range: editor.getSelection(), text: name, forceMoveMarkers: true }])
            editor.focus()
        }
        root.querySelector(".tree").replaceChildren(...tree(data, insert))
        new MutationObserver(() => update(root)).observe(root.closest("[data-testid=stApp]"), { attributes: true })
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(() => update(root), 300))
        update(root)
    })
}

function update(root) {
    const { data } = root.latest
    const model = root.editor.getModel()
    if (!model) return // the visitor has left this editor
    model.known = data
    window.monaco.editor.setTheme(`dropline-${isDark(root) ? "dark" : "light"}`)
    if (root.revision === data.revision) return
    root.revision = data.revision
    root.editor.executeEdits("page", [{ range: model.getFullModelRange(), text: data.text }])
}
