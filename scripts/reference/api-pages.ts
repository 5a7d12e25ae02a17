/**
 * Pages of what the packages of the library export, out of the declarations that the compiler emits: signatures and docstrings as
 * editors show them. The compiler has no stable programming interface in this version, and needs none for it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../source-files.ts'

/** What is written for users, by where it is imported from; the others are parts of the programs. */
const DOCUMENTED = {
  client: 'client/src/index',
  'cloud-provider': 'cloud-provider/src/index',
  cluster: 'cluster/src/index',
  foundation: 'foundation/src/index',
  'foundation/testing': 'foundation/src/testing/index',
  runtime: 'runtime/src/index',
  'runtime/testing': 'runtime/src/testing/index',
} as const

interface Exported {
  readonly name: string
  /** Text of the docstring, without stars. Empty: there is none. */
  readonly doc: string
  readonly code: string
}

/** Page names below docs/reference/api, and their texts. Throws when an export has no docstring. */
export function apiPages(): Readonly<Record<string, string>> {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp/declarations-'))
  try {
    emitDeclarations(folder)
    return Object.fromEntries(
      Object.entries(DOCUMENTED).map(([name, index]) => {
        const exported = exportedFrom(join(folder, 'packages', `${index}.d.ts`))
        const silent = exported.filter(({ doc }) => doc === '').map((one) => one.name)
        if (silent.length > 0)
          throw new Error(`exports of packages/${index}.ts have no docstring: ${silent.join(', ')}`)
        return [`${name.replace('/', '-')}.md`, pageOf(name, exported)]
      }),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function emitDeclarations(outDir: string): void {
  const config = join(outDir, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // The step `types` checks.
    noCheck: true,
    rootDir: root,
    outDir,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  // All files: one that is reached through another package counts as part of a dependency, of which nothing is emitted.
  const include = Object.values(DOCUMENTED).map((index) => join(root, 'packages', dirname(index)))
  const text = JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include,
    exclude: [join(root, 'packages/**/*.test.ts')],
  })
  writeFileSync(config, text)
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', config], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`no declarations: ${stdout}`)
}

/** Sorted by name. */
function exportedFrom(index: string): readonly Exported[] {
  return namesOf(index)
    .map(({ name, local, path }) => ({ ...declarationIn(readFileSync(path, 'utf8'), local), name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

interface Name {
  readonly name: string
  readonly local: string
  readonly path: string
}

/** Of a file of declarations, with those that it passes on. */
function namesOf(path: string): readonly Name[] {
  const text = readFileSync(path, 'utf8')
  const target = (from: string): string => join(dirname(path), from.replace(/\.ts$/, '.d.ts'))
  const passed = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']*)';$/gm)].flatMap(
    ([, list = '', from = '']) =>
      list.split(',').flatMap((item) => {
        const [inner = '', outer = inner] = item
          .trim()
          .replace(/^type /, '')
          .split(' as ')
        const known = namesOf(target(from)).find(({ name }) => name === inner)
        return inner === '' ? [] : [{ ...(known ?? missing(inner, from)), name: outer }]
      }),
  )
  const all = [...text.matchAll(/^export (?:type )?\* from '(\.[^']*)';$/gm)].flatMap(
    ([, from = '']) => namesOf(target(from)),
  )
  const own = [...text.matchAll(DECLARATION)].map(([, name = '']) => ({ name, local: name, path }))
  return [...new Map([...passed, ...all, ...own].map((one) => [one.name, one])).values()]
}

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:class|interface|function|const|type|enum) (\w+)/gm

function missing(name: string, from: string): never {
  throw new Error(`${from} does not declare ${name}`)
}

/** The declaration, all of its overloads, and the docstring before the first that has one. Pure. */
export function declarationIn(text: string, name: string): Omit<Exported, 'name'> {
  const lines = text.split('\n')
  const begins = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:class|interface|function|const|type|enum) ${name}\\b`,
  )
  const found = lines.flatMap((line, at) => (begins.test(line) ? [at] : []))
  const docs = found.map((at) => docBefore(lines, at)).filter((doc) => doc !== '')
  const code = found.map((at) => {
    const rest = lines
      .slice(at + 1)
      .findIndex((line) => /^(?:export|declare|import|interface|type|\/\*\*)/.test(line))
    const end = rest === -1 ? lines.length : at + 1 + rest
    return withoutPrivate(lines.slice(at, end)).join('\n').trimEnd()
  })
  return { doc: docs[0] ?? '', code: code.join('\n').replaceAll(/^export (?:declare )?/gm, '') }
}

function withoutPrivate(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !/^ {4}(?:#private;|private )/.test(line))
}

function docBefore(lines: readonly string[], at: number): string {
  if (lines[at - 1]?.trimEnd().endsWith('*/') !== true) return ''
  let from = at - 1
  while (!lines[from]!.startsWith('/**')) from--
  return lines
    .slice(from, at)
    .map((line) =>
      line
        .replace(/^\/\*\* ?/, '')
        .replace(/ ?\*\/$/, '')
        .replace(/^ \* ?/, ''),
    )
    .join('\n')
    .trim()
}

function pageOf(name: string, exported: readonly Exported[]): string {
  const sections = exported.map(
    ({ name: title, doc, code }) =>
      `## ${title}\n\n${doc === '' ? '' : `${doc}\n\n`}\`\`\`ts\n${code}\n\`\`\`\n`,
  )
  return `# @gyropilot/${name}\n\nWhat it exports, with its docstrings.\nGenerated by \`node scripts/generate-reference.ts\`; do not edit.\n\n${sections.join('\n')}`
}
