// Makes a few files of a program of this repository, for scripts/packed-start.cjs:
//
//   node scripts/bundle-program.mjs packages/manager/src/main.ts FOLDER
//
// A program whose modules wait for nothing while they are loaded becomes one script, FOLDER/program.cjs: a function of `require`, `module`
// and `exports`. Any other becomes modules, program.mjs and the parts that it loads late. Beside them are their source maps, and in
// made-of.json the files that they were made of and the modules of Node that they need at once. Ends with 1 and without a word where
// there is no bundler: installations for production have none.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [program, folder] = process.argv.slice(2).map((path) => resolve(path))
const root = dirname(dirname(fileURLToPath(import.meta.url)))

// Who starts a program for the first time waits for this: the bundler takes memory rather than time.
process.env.GOGC ??= '800'
const { build } = await import('esbuild').catch(() => process.exit(1))

/**
 * Modules go on to know their own places, and what they load late by `createRequire` is in the file too. They are looked for before:
 * the bundler asks for each file that the filter lets through, and asking costs more than bundling it.
 */
const places = {
  name: 'places',
  setup({ onLoad }) {
    const theirs = modulesWithPlaces()
    if (theirs.size === 0) return
    const names = [...theirs.keys()].map((path) => basename(path).replaceAll('.', String.raw`\.`))
    onLoad({ filter: new RegExp(`[/\\\\](?:${names.join('|')})$`) }, ({ path }) => {
      const source = theirs.get(path)
      if (source === undefined) return undefined
      const contents = source
        .replaceAll("createRequire(import.meta.url)('.", "require('.")
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
      return { contents, loader: 'ts' }
    })
  },
}

/** Path and text. */
function modulesWithPlaces() {
  const packages = join(root, 'packages')
  const paths = readdirSync(packages, { recursive: true })
    .filter((path) => /(?<!\.test)\.ts$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(packages, path))
  const modules = new Map()
  for (const path of paths) {
    const source = readFileSync(path)
    if (source.includes('import.meta.')) modules.set(path, source.toString('utf8'))
  }
  return modules
}

mkdirSync(folder, { recursive: true })
const common = {
  entryPoints: { program },
  outdir: folder,
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: `node${process.versions.node}`,
  sourcemap: 'external',
  sourcesContent: false,
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  logLevel: 'silent',
  external: ['ws', 'yaml'],
  plugins: [places],
}
const asScript = {
  ...common,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: '(function(require,module,exports){' },
  footer: { js: '})' },
}
// ws and yaml are CommonJS, whose names a part that is loaded late would not have.
const asModules = { ...common, format: 'esm', outExtension: { '.js': '.mjs' }, splitting: true }
const { metafile } = await build(asScript)
  .catch(() => build(asModules))
  .catch(() => process.exit(1))
const inputs = Object.keys(metafile.inputs).map((path) => join(root, path))
const imported = Object.values(metafile.outputs).flatMap((output) => output.imports)
const atOnce = imported.filter(({ kind }) => kind !== 'dynamic-import').map(({ path }) => path)
const builtins = new Set(atOnce.filter((path) => path.startsWith('node:')))
writeFileSync(join(folder, 'made-of.json'), JSON.stringify({ inputs, builtins: [...builtins] }))
