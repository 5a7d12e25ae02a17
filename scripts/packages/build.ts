/**
 * Makes what npm publishes out of the sources: for each package a folder with JavaScript, declarations and a manifest, and the
 * package `gyropilot` with the commands, bundled, because a cold disk reads few files sooner than many.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../source-files.ts'
import { bundleCommands } from './bundle.ts'
import { publishableManifest, publishedEntries, withPublishedNames } from './publishable.ts'
import type { Manifest } from './publishable.ts'

/** Commands, not a library: published as `gyropilot`. */
const NOT_ON_ITS_OWN: ReadonlySet<string> = new Set(['gyro'])

/** Writes `target/<folder>` for each package; answers their folders. */
export async function buildPackages(target: string): Promise<readonly string[]> {
  rmSync(target, { recursive: true, force: true })
  const compiled = join(target, '.compiled')
  const names = readdirSync(join(root, 'packages')).filter((name) => !NOT_ON_ITS_OWN.has(name))
  compile(compiled, names)
  const folders = names.map((name) =>
    stage(name, join(compiled, 'packages', name), join(target, name)),
  )
  const commands = join(target, 'gyropilot')
  await bundleCommands(commands)
  rmSync(compiled, { recursive: true })
  return [...folders, commands]
}

/**
 * Every source is a root: the compiler leaves out what it happens to reach through a link in node_modules first, a little else every
 * time.
 */
function compile(outDir: string, names: readonly string[]): void {
  mkdirSync(outDir, { recursive: true })
  const config = join(outDir, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: root,
        outDir,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [],
      files: names.flatMap(sourceFiles),
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(tsc, ['-p', config], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the sources do not compile:\n${stdout}`)
}

function sourceFiles(name: string): readonly string[] {
  const source = join(root, 'packages', name)
  return globSync('src/**/*.ts', { cwd: source })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => join(source, path))
}

const RELATIVE = /'(\.{1,2}\/[^']+\.(?:ts|js|json))'/g

/** What the entries reach, as paths without extension or of JSON: tests and what only they use stay behind. */
function reached(name: string, compiled: string): ReadonlySet<string> {
  const found = new Set<string>()
  const source = join(root, 'packages', name)
  const waiting = publishedEntries(manifestOf(name))
    .flatMap(([, target]) => globSync(target, { cwd: source }))
    .filter((path) => path.endsWith('.ts'))
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stem = path.replace(/\.(?:ts|js)$/, '')
    if (found.has(stem)) continue
    found.add(stem)
    const isThere = path.endsWith('.json')
      ? existsSync(join(source, path))
      : existsSync(join(compiled, `${stem}.js`))
    if (!isThere) throw new Error(`${name}: ${path} is imported and not compiled`)
    for (const file of [`${stem}.js`, `${stem}.d.ts`].map((one) => join(compiled, one))) {
      if (path.endsWith('.json') || !existsSync(file)) continue
      for (const [, to = ''] of read(file).matchAll(RELATIVE)) waiting.push(join(dirname(path), to))
    }
  }
  return found
}

function manifestOf(name: string): Manifest {
  return JSON.parse(read(join(root, 'packages', name, 'package.json'))) as Manifest
}

function stage(name: string, compiled: string, folder: string): string {
  const source = join(root, 'packages', name)
  const manifest = manifestOf(name)
  const wanted = reached(name, compiled)
  const published = (path: string): string => join(folder, path.replace(/^src/, 'dist'))
  for (const path of globSync('src/**/*.{js,d.ts}', { cwd: compiled }))
    if (wanted.has(path.replace(/(?:\.d\.ts|\.js)$/, '')))
      write(published(path), withPublishedNames(read(join(compiled, path))))
  // Not as compiled: JSON is no root, so the compiler writes it at times and at times leaves it out.
  for (const path of globSync('src/**/*.json', { cwd: source }))
    if (wanted.has(path)) write(published(path), read(join(source, path)))
  for (const target of Object.values(manifest.exports)) {
    const [, top = ''] = target.split('/')
    if (top !== 'src') cpSync(join(source, top), join(folder, top), { recursive: true })
  }
  write(join(folder, 'package.json'), `${JSON.stringify(publishableManifest(manifest), null, 2)}\n`)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const readme = join(source, 'README.md')
  write(join(folder, 'README.md'), existsSync(readme) ? read(readme) : shortReadme(manifest))
  return folder
}

function shortReadme({ name, description = '' }: Manifest): string {
  return `# ${name}\n\n${description}\n\nA part of Gyropilot, the Kubernetes control loops in TypeScript: see the package \`gyropilot\`.\n`
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
