// Starts a program of this repository from a few files that hold all of its modules, as JavaScript, and what V8 made of them before:
//
//   node scripts/packed-start.cjs packages/manager/src/main.ts ARGS...
//
// The sources stay what is written, read and shown in stack traces. Those in node_modules/.cache are made of them by the first start
// and made anew as soon as one source, the list of packages or Node is another. It saves each start the resolving, reading, stripping
// and compiling of hundreds of modules: docs/decisions/0017-packed-start.md has the figures.
// Without a place to write, or without the bundler, programs start from their sources.
//
// What Node's build compiled of Node's own modules V8 takes only while each of its flags is what it is by default: otherwise a start
// compiles them anew. So the flags of a launcher are at their defaults while those modules are loaded, which then is before the program.
// It is CommonJS because modules import before they do anything.
const {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const nodeModule = require('node:module')
const { dirname, join, relative, resolve } = require('node:path')
const { fileURLToPath, pathToFileURL } = require('node:url')
const { cachedDataVersionTag, setFlagsFromString } = require('node:v8')

/** By then a program has done what it does at its start: V8 keeps the functions that it needed. */
const KEEP_COMPILED_AFTER_MS = 15_000
const KEEP_FORMER_MS = 24 * 3_600_000
const CHECKSUM_BYTES = 4
/**
 * Of the flags that launchers hand to Node. Of TurboFan's V8 prints another, which Maglev overrules. The reducer's start must not be at
 * its default when the heap first grows, which it does while the sources are looked at.
 */
const DEFAULTS = {
  '--initial-old-space-size': 0,
  '--memory-reducer-delay-ms': 8_000,
  '--gc-memory-reducer-start-delay-ms': 30_000,
  '--invocation-count-for-turbofan': 16_000,
  '--compaction-max-evacuated-bytes-mb-for-reduce-memory': 12,
}
/** What Node loads when a server first listens, a client first connects and somebody first looks at a clock. */
const LOADED_LATE = ['node:cluster', 'node:dns', 'node:perf_hooks']

const program = resolve(process.argv[2])
process.argv.splice(1, 2, program)
const root = dirname(__dirname)
const name = relative(root, program).replaceAll(/[^\w.-]/g, '-')
const cache = join(root, 'node_modules/.cache/gyropilot', `${name}-${process.version}`)
const indexFile = join(cache, 'index.json')

const known = knownIndex()
const index = known ?? make()
if (index === undefined) {
  void import(pathToFileURL(program).href)
} else {
  const { folder } = index
  Error.prepareStackTrace = stackOfSources(pathToFileURL(folder).href)
  const script = join(folder, 'program.cjs')
  // What the first start compiles is often no more than a question for the version.
  const keeps = known !== undefined
  if (existsSync(script)) {
    loadModulesOfNode([...index.builtins, ...LOADED_LATE])
    runScript(script, keeps)
  } else {
    if (keeps) keepCompiledModules(join(folder, 'compiled'))
    void import(pathToFileURL(join(folder, 'program.mjs')).href)
  }
}

function loadModulesOfNode(modules) {
  const handed = process.execArgv.filter((arg) => nameOf(arg) in DEFAULTS)
  for (const flag of handed.map(nameOf)) setFlagsFromString(`${flag}=${DEFAULTS[flag]}`)
  modules.forEach((module) => require(module))
  for (const arg of handed) setFlagsFromString(arg)
}

function nameOf(flag) {
  return flag.split('=', 1)[0]
}

/**
 * Where a start before this one put the files, when everything that they were made of is as it was. A copied checkout brings an index
 * of the one that it was copied from, whose sources are not its own.
 */
function knownIndex() {
  try {
    const found = JSON.parse(readFileSync(indexFile, 'utf8'))
    const isOfThisCheckout = dirname(found.folder) === cache
    return isOfThisCheckout &&
      Object.entries(found.stamps).every(([path, stamp]) => isAsItWas(path, stamp)) &&
      ['program.cjs', 'program.mjs'].some((file) => existsSync(join(found.folder, file)))
      ? found
      : undefined
  } catch {
    return undefined
  }
}

/** Undefined: there is no bundler, no place, or a source that cannot be read; the program itself will say which. */
function make() {
  try {
    mkdirSync(cache, { recursive: true })
    const made = mkdtempSync(join(cache, 'files-'))
    const { spawnSync } = require('node:child_process')
    const bundler = join(root, 'scripts/bundle-program.mjs')
    const told =
      process.stderr.isTTY &&
      'Putting the modules of the program together, once for these sources ...'
    if (told) process.stderr.write(told)
    const { status } = spawnSync(process.execPath, [bundler, program, made], { stdio: 'ignore' })
    if (told) process.stderr.write(`\r${' '.repeat(told.length)}\r`)
    if (status !== 0) {
      rmSync(made, { recursive: true })
      return undefined
    }
    const { inputs, builtins } = JSON.parse(readFileSync(join(made, 'made-of.json'), 'utf8'))
    const stamps = [...packageFiles(), ...inputs].map((path) => [path, stampOf(path)])
    const index = { folder: made, builtins, stamps: Object.fromEntries(stamps) }
    // Whoever starts meanwhile reads the old one or the new one.
    writeFileSync(join(made, 'index.json'), JSON.stringify(index))
    renameSync(join(made, 'index.json'), indexFile)
    forgetFormer(made)
    return index
  } catch {
    return undefined
  }
}

/** Programs that were started with them may still load parts of them. */
function forgetFormer(made) {
  for (const entry of readdirSync(cache, { withFileTypes: true })) {
    const path = join(cache, entry.name)
    if (!entry.isDirectory() || path === made) continue
    if (Date.now() - statSync(path).mtimeMs > KEEP_FORMER_MS) rmSync(path, { recursive: true })
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

/** When it was changed, and its bytes. Numbers: a text of a thousand times costs more than the asking. */
function stampOf(path) {
  const { mtimeMs = 0, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return [mtimeMs, size]
}

function isAsItWas(path, [formerMs, formerBytes]) {
  const [mtimeMs, size] = stampOf(path)
  return mtimeMs === formerMs && size === formerBytes
}

/**
 * V8 keeps what it has compiled of a script by then, with all functions that were called; of a module it keeps what it compiles
 * when it loads it, and each function is compiled anew in each process. What a short life leaves serves until a long one was lived.
 */
function runScript(file, keeps) {
  const { Script, constants } = require('node:vm')
  const long = `${file}-compiled-${cachedDataVersionTag()}`
  const short = `${long}-short`
  const fromLong = keptIn(long)
  const fromAny = fromLong ?? keptIn(short)
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: pathToFileURL(file).href,
    cachedData: fromAny,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const isKept = (data) => data !== undefined && script.cachedDataRejected !== true
  if (keeps && !isKept(fromLong)) {
    setTimeout(() => keep(script, long), KEEP_COMPILED_AFTER_MS).unref()
    process.once('exit', () => {
      if (!isKept(fromAny) && !existsSync(long)) keep(script, short)
    })
  }
  const module = { exports: {} }
  script.runInThisContext()(nodeModule.createRequire(file), module, module.exports)
}

/** V8 takes whatever it is given for its own as long as the head and the length are right, so that a checksum stands at the end. */
function keptIn(file) {
  try {
    const content = readFileSync(file)
    const data = content.subarray(0, -CHECKSUM_BYTES)
    return content.subarray(-CHECKSUM_BYTES).equals(checksumOf(data)) ? data : undefined
  } catch {
    return undefined
  }
}

/** Whoever starts meanwhile reads all of it or nothing. */
function keep(script, file) {
  try {
    const data = script.createCachedData()
    const unfinished = `${file}-${process.pid}`
    writeFileSync(unfinished, Buffer.concat([data, checksumOf(data)]))
    renameSync(unfinished, file)
  } catch {
    // The folder is gone, or the disk is full: the next start compiles again.
  }
}

function checksumOf(data) {
  const { crc32 } = require('node:zlib')
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(data))
  return checksum
}

/** At its end, and before for programs that run for months. */
function keepCompiledModules(place) {
  nodeModule.enableCompileCache(place)
  setTimeout(() => nodeModule.flushCompileCache(), KEEP_COMPILED_AFTER_MS).unref()
}

/** Stack traces name the sources; maps are read when they are first needed. */
function stackOfSources(folderUrl) {
  const maps = new Map()
  const mapOf = (url) => {
    if (!maps.has(url)) {
      const text = readFileSync(fileURLToPath(`${url}.map`), 'utf8')
      maps.set(url, new nodeModule.SourceMap(JSON.parse(text)))
    }
    return maps.get(url)
  }
  const placed = (frame) => {
    const url = frame.getFileName()
    if (!url?.startsWith(folderUrl)) return String(frame)
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    const { originalSource, originalLine, originalColumn } = mapOf(url).findEntry(
      line - 1,
      column - 1,
    )
    if (originalSource === undefined) return String(frame)
    const place = `${new URL(originalSource, url).href}:${originalLine + 1}:${originalColumn + 1}`
    return String(frame).replace(`${url}:${line}:${column}`, place)
  }
  return (error, frames) => {
    const title = titleOf(error)
    try {
      return [title, ...frames.map(placed)].join('\n    at ')
    } catch {
      // Another version of the files is there by now.
      return [title, ...frames].join('\n    at ')
    }
  }
}

function titleOf(error) {
  try {
    return String(error)
  } catch {
    return 'Error'
  }
}
