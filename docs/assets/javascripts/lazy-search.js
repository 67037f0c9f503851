// A worker around Material's search worker. It loads nothing before the first query, gives the index only the
// pages of one language, and finds word forms as well as beginnings of words.
// Messages of Material: 0 set up, 1 ready, 2 query, 3 result.
const options = new URLSearchParams(location.search)
const lang = options.get("lang")
let worker
let waiting

postMessage({ type: 1 })

addEventListener("message", ({ data: message }) => {
  if (message.type !== 2 || !message.data.trim()) return
  const query = { type: 2, data: forms(message.data) }
  if (worker === undefined) start().catch(error => { worker = undefined; console.warn(error) })
  if (worker) worker.postMessage(query)
  else waiting = query
})

async function start() {
  worker = null
  const response = await fetch("../../search/search_index.json")
  if (!response.ok) throw new Error(`search index: ${response.status}`)
  const index = await response.json()
  index.docs = index.docs.filter(doc => doc.location.startsWith("ru/") === (lang === "ru"))
  // Russian alone would trim Latin words away.
  index.config.lang = lang === "ru" ? ["ru", "en"] : ["en"]
  const real = new Worker(new URL(`workers/${options.get("worker")}`, location))
  real.addEventListener("message", ({ data: message }) => {
    if (message.type === 1) {
      worker = real
      if (waiting) real.postMessage(waiting)
    } else if (message.type === 3) {
      // Each word was asked for twice: which of the two is missing tells a reader nothing.
      for (const page of message.data.items) for (const part of page) part.terms = {}
      postMessage(message)
    }
  })
  real.postMessage({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: false } } })
}

// Material adds * to a word, and such a word is never reduced to its stem: ask for both, and for е written as ё.
function forms(text) {
  return text.trim().split(/\s+/).flatMap(word => {
    if (!/^[\p{L}\p{N}.,-]+$/u.test(word)) return word
    const plain = word.replace(/ё/g, "е")
    const spelled = [...plain].flatMap((letter, i) => letter === "е" ? plain.slice(0, i) + "ё" + plain.slice(i + 1) : [])
    return [plain, ...spelled].flatMap(one => [`${one}^1`, one])
  }).join(" ")
}
