// Imports go strictly downward and stand in the package's manifest, controller folders do not know each other, files, and the
// folders of a large package, know each other in one direction only, and the real world is touched in named places.
//
//   node scripts/check-layers.ts
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, root, sourceFiles } from './source-files.ts'
import type { SourceFile } from './source-files.ts'

interface Rules {
  readonly layers: Readonly<Record<string, number>>
  /** Packages whose folders may not form circles. */
  readonly acyclicFolders: readonly string[]
  readonly realWorld: readonly { readonly path: string; readonly reason: string }[]
  readonly waivers: readonly {
    readonly path: string
    readonly rule: string
    readonly reason: string
  }[]
}

const rules = JSON.parse(readFileSync(join(root, 'scripts/layers.json'), 'utf8')) as Rules

/** Pure files and everything else takes these from its arguments. */
const REAL_WORLD: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b/, 'Date.now: take a Clock'],
  [/\bnew Date\(\s*\)/, 'new Date(): take a Clock'],
  [/\bperformance\.now\b/, 'performance.now: take a Clock'],
  [/\b(setTimeout|setInterval|setImmediate)\s*\(/, 'timers: take a Clock'],
  [/\bMath\.random\b/, 'Math.random: take a RandomSource'],
  [/\b(randomUUID|randomBytes|randomInt)\b/, 'system randomness: take a RandomSource'],
  [
    /\bprocess\.(env|argv|exit|stdout|stderr|stdin|cwd|pid|on)\b/,
    'process: hand it in from a binary',
  ],
  [/\bfetch\s*\(/, 'fetch: take a Transport'],
]
const REAL_MODULES =
  /^(?:node:)?(fs|fs\/promises|net|tls|http|https|http2|dgram|child_process|dns|os|worker_threads|timers|timers\/promises)$/

function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1]
}

function* importsOf(file: SourceFile): Generator<string> {
  const pattern =
    /^\s*(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]/gm
  for (const match of file.text.matchAll(pattern)) yield (match[1] ?? match[2] ?? match[3])!
}

const TEST_FILE = /\.test\.ts$|\/testing\/|\/fixtures\.ts$/

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifests = new Map<string, Manifest>()

function manifestOf(name: string): Manifest {
  const known = manifests.get(name)
  if (known !== undefined) return known
  const text = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')
  const manifest = JSON.parse(text) as Manifest
  manifests.set(name, manifest)
  return manifest
}

/** A manifest states what its package may know; what only tests may know are its devDependencies. */
function* manifestProblems(file: SourceFile): Generator<string> {
  const from = packageOf(file.path)
  if (from === undefined) return
  const { dependencies = {}, devDependencies = {} } = manifestOf(from)
  const known = TEST_FILE.test(file.path) ? { ...dependencies, ...devDependencies } : dependencies
  for (const specifier of importsOf(file)) {
    const target = /^@gyropilot\/[^/]+/.exec(specifier)?.[0]
    if (target !== undefined && target !== `@gyropilot/${from}` && known[target] === undefined)
      yield `imports ${specifier}: not in packages/${from}/package.json`
  }
}

function* layerProblems(file: SourceFile): Generator<string> {
  const from = packageOf(file.path)
  if (from === undefined) return
  const level = rules.layers[from]
  if (level === undefined) {
    yield `package ${from} has no layer in scripts/layers.json`
    return
  }
  for (const specifier of importsOf(file)) {
    const target = /^@gyropilot\/([^/]+)/.exec(specifier)?.[1]
    if (target !== undefined && target !== from && !((rules.layers[target] ?? Infinity) < level)) {
      yield `imports ${specifier}: ${from} (${level}) may only import lower layers than its own`
    }
    if (target === from) yield `imports its own package by name: use a relative path`
    if (specifier.startsWith('.')) {
      const resolved = join(file.path, '..', specifier)
      if (packageOf(resolved) !== from) yield `imports ${specifier}: reaches outside its package`
      const own = controllerFolder(file.path)
      const other = controllerFolder(resolved)
      if (own && other && own !== other)
        yield `imports ${specifier}: controllers do not know each other`
    }
  }
}

function controllerFolder(path: string): string | undefined {
  return /^packages\/controllers\/src\/((?![^/]+-support\/)[^/]+)\//.exec(path)?.[1]
}

function* realWorldProblems(file: SourceFile): Generator<string> {
  if (packageOf(file.path) === undefined || /\.test\.ts$|\/testing\//.test(file.path)) return
  if (rules.realWorld.some((place) => file.path.startsWith(place.path))) return
  for (const specifier of importsOf(file)) {
    if (REAL_MODULES.test(specifier))
      yield `imports ${specifier} outside the places of scripts/layers.json`
  }
  const lines = codeOf(file.text).split('\n')
  for (const [pattern, why] of REAL_WORLD) {
    const line = lines.findIndex((text) => pattern.test(text))
    if (line >= 0) yield `line ${line + 1}: ${why}`
  }
}

/** The folder below `src` that a file stands in, or the file itself. */
function folderOf(path: string): string {
  return /^packages\/[^/]+\/src\/([^/]+)/.exec(path)?.[1] ?? path
}

/** Circles between places of a package, with an import that leads on from each. Tests may look anywhere. */
function circles(
  files: readonly SourceFile[],
  what: string,
  placeOf: (path: string) => string,
): string[] {
  const known = new Map<string, Map<string, string>>()
  for (const file of files) {
    if (TEST_FILE.test(file.path)) continue
    const place = placeOf(file.path)
    for (const specifier of importsOf(file)) {
      if (!specifier.startsWith('.')) continue
      const other = placeOf(join(file.path, '..', specifier))
      if (other === place) continue
      const imports = known.get(place) ?? new Map<string, string>()
      known.set(place, imports.set(other, imports.get(other) ?? file.path))
    }
  }
  const found: string[] = []
  const done = new Set<string>()
  const visit = (place: string, path: readonly string[]): void => {
    const start = path.indexOf(place)
    if (start >= 0) {
      const circle = [...path.slice(start), place]
      const steps = circle.slice(1).map((to, i) => `${known.get(circle[i]!)!.get(to)} -> ${to}`)
      found.push(`circle of ${what}: ${steps.join(', ')}`)
      return
    }
    if (done.has(place)) return
    for (const to of known.get(place)?.keys() ?? []) visit(to, [...path, place])
    done.add(place)
  }
  for (const place of known.keys()) visit(place, [])
  return found
}

function* allCircles(files: readonly SourceFile[]): Generator<string> {
  yield* circles(files, 'files', (path) => path)
  for (const name of rules.acyclicFolders) {
    const own = files.filter(({ path }) => packageOf(path) === name)
    yield* circles(own, `folders in ${name}`, folderOf)
  }
}

let problems = 0
const files = sourceFiles('packages')
for (const circle of allCircles(files)) {
  problems++
  console.error(circle)
}
for (const file of files) {
  for (const problem of [
    ...layerProblems(file),
    ...manifestProblems(file),
    ...realWorldProblems(file),
  ]) {
    if (rules.waivers.some((waiver) => waiver.path === file.path && problem.includes(waiver.rule)))
      continue
    problems++
    console.error(`${file.path}: ${problem}`)
  }
}
console.log(
  problems === 0 ? `layers: ${files.length} files in order` : `layers: ${problems} problems`,
)
process.exitCode = problems === 0 ? 0 : 1
