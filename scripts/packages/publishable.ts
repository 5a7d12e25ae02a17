/** The manifests of packages as npm gets them: JavaScript and declarations in the place of sources. Pure. */

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license: string
  readonly exports: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Entries for tests of this repository, not for its users. */
const OWN_TESTS: ReadonlySet<string> = new Set([
  '@gyropilot/api/testing',
  '@gyropilot/api-server/testing',
  '@gyropilot/controllers/testing',
  '@gyropilot/protobuf/testing',
])

/** The oldest Node that runs what is published, and the newest that was tried is the one of the repository. */
export const OLDEST_NODE = [22, 18] as const
export const PUBLISHED_ENGINES = { node: `>=${OLDEST_NODE.join('.')}` }

export function publishableManifest(manifest: Manifest): object {
  const { name, version, description, license, exports, dependencies = {} } = manifest
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    exports: Object.fromEntries(
      publishedEntries(manifest).map(([entry, target]) => [entry, publishedTarget(target)]),
    ),
    files: ['dist', ...folderNames(exports)],
    dependencies,
    engines: PUBLISHED_ENGINES,
  }
}

/** Names and targets of what users may import. */
export function publishedEntries({ name, exports }: Manifest): readonly [string, string][] {
  return Object.entries(exports).filter(([entry]) => !OWN_TESTS.has(entryName(name, entry)))
}

function entryName(name: string, entry: string): string {
  return entry === '.' ? name : `${name}${entry.slice(1)}`
}

/** `./src/a.ts` becomes `./dist/a.js` with its declarations; other files are published where they are. */
function publishedTarget(target: string): string | { types: string; default: string } {
  const [, stem] = /^\.\/src\/(.*)\.ts$/.exec(target) ?? []
  if (stem === undefined) return target
  return { types: `./dist/${stem}.d.ts`, default: `./dist/${stem}.js` }
}

/** Top folders of what is published beside the sources. */
function folderNames(exports: Manifest['exports']): readonly string[] {
  const names = Object.values(exports).map((target) => target.split('/')[1]!)
  return [...new Set(names)].filter((name) => name !== 'src')
}

/** Compilers leave the names of sources in declarations, and in `require` of them. */
export function withPublishedNames(text: string): string {
  return text
    .replaceAll(/((?:from|import)\s*\(?\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'")
    .replaceAll(/(createRequire\(import\.meta\.url\)\('\.{1,2}\/[^']*)\.ts'/g, "$1.js'")
}

/** Sources that load others of their own when they are first needed, by a require that a bundler cannot see. */
export const LATE_MODULES =
  /\/(?:cel\/src\/load|admissionregistration\/expressions|validatingadmissionpolicy-status-controller\/load)\.ts$/
