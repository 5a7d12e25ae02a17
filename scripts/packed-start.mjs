// Starts a program of this repository from one file that holds all of its modules, as JavaScript, with where their imports lead:
//
//   node scripts/packed-start.mjs packages/manager/src/main.ts ARGS...
//
// The sources stay what runs. The file in node_modules/.cache is made of them by the first start, completed by later ones, and
// thrown away as soon as one source, the list of packages or Node is another. It saves each start the resolving, reading and
// stripping of hundreds of modules and the compiler that strips them: docs/decisions/0017-packed-start.md has the figures.
// Without a place to write, or without a Node that has hooks, programs start as they always did.
import * as nodeModule from 'node:module'
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const WRITE_AFTER_MS = 15_000

const program = resolve(process.argv[2])
process.argv.splice(1, 2, program)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const name = program.slice(root.length + 1).replaceAll(/[^\w.-]/g, '-')
const file = join(root, 'node_modules', '.cache', 'gyropilot', `${name}-${process.version}.json`)
const programUrl = pathToFileURL(program).href

if (nodeModule.registerHooks === undefined || !program.startsWith(root)) {
  nodeModule.enableCompileCache?.()
  await import(programUrl)
} else {
  const pack = knownPack() ?? { stamps: stampsOf(packageFiles()), links: {}, sources: {} }
  useAndComplete(pack)
  await import(programUrl)
}

/** What a start before this one left, when everything that it was made of is as it was. */
function knownPack() {
  try {
    const pack = JSON.parse(readFileSync(file, 'utf8'))
    const isAsItWas = Object.entries(pack.stamps).every(([path, stamp]) => stampOf(path) === stamp)
    return isAsItWas && pack.links && pack.sources ? pack : undefined
  } catch {
    return undefined
  }
}

function useAndComplete(pack) {
  let isComplete = true
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const known = pack.links[context.parentURL]?.[specifier]
      if (known !== undefined) return { url: known, format: 'module', shortCircuit: true }
      const resolved = next(specifier, context)
      if (isSource(resolved.url)) {
        pack.links[context.parentURL ?? ''] ??= {}
        pack.links[context.parentURL ?? ''][specifier] = resolved.url
        isComplete = false
      }
      return resolved
    },
    load(url, context, next) {
      const known = pack.sources[url]
      if (known !== undefined) return { format: 'module', source: known, shortCircuit: true }
      if (!isSource(url)) return next(url, context)
      const path = fileURLToPath(url)
      const stamp = stampOf(path)
      const source = nodeModule.stripTypeScriptTypes(readFileSync(path, 'utf8'))
      pack.sources[url] = source
      pack.stamps[path] = stamp
      isComplete = false
      return { format: 'module', source, shortCircuit: true }
    },
  })
  const write = () => {
    if (isComplete) return
    isComplete = true
    writePack(pack)
  }
  // Programs that run for months are not waited for; what they load only then is added when they end.
  setTimeout(write, WRITE_AFTER_MS).unref()
  process.once('exit', write)
}

/** TypeScript of this repository: what its dependencies bring along is JavaScript and is loaded as ever. */
function isSource(url) {
  return url.startsWith('file:') && url.endsWith('.ts')
}

function writePack(pack) {
  try {
    mkdirSync(dirname(file), { recursive: true })
    // Whoever starts meanwhile reads the old one or the new one.
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, JSON.stringify(pack), { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // A read-only installation: the next start is as slow as this one.
  }
}

/** Where imports of packages lead is written in these. */
function packageFiles() {
  const packages = join(root, 'packages')
  return [
    join(root, 'package-lock.json'),
    ...readdirSync(packages).map((entry) => join(packages, entry, 'package.json')),
  ]
}

function stampsOf(paths) {
  return Object.fromEntries(paths.map((path) => [path, stampOf(path)]))
}

function stampOf(path) {
  const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return `${mtimeMs} ${size}`
}
