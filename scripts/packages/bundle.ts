/** The package `gyropilot`: `gyro`, `kube-controller-manager` and what `gyro envtest` puts into a folder, in few files. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { root } from '../source-files.ts'
import { launcher } from './launcher.ts'
import { LATE_MODULES, PUBLISHED_ENGINES } from './publishable.ts'

const ENTRIES: Readonly<Record<string, string>> = {
  gyro: 'packages/gyro/src/main.ts',
  'kube-apiserver': 'packages/gyro/src/envtest/kube-apiserver.ts',
  etcd: 'packages/gyro/src/envtest/etcd.ts',
  'kube-controller-manager': 'packages/manager/src/main.ts',
  'cloud-controller-manager': 'packages/manager/src/cloud-main.ts',
}

const COMMANDS: Readonly<Record<string, string>> = {
  gyropilot: 'gyro',
  gyro: 'gyro',
  'kube-controller-manager': 'kube-controller-manager',
  'cloud-controller-manager': 'cloud-controller-manager',
}

export async function bundleCommands(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)]),
    ),
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minifySyntax: true,
    minifyWhitespace: true,
    // Stack traces and classes keep their names.
    keepNames: false,
    external: ['ws', 'yaml'],
    chunkNames: 'parts/[name]-[hash]',
    logLevel: 'warning',
    plugins: [lateModules, places],
  })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  for (const [command, entry] of Object.entries(COMMANDS))
    writeFileSync(join(folder, 'bin', `${command}.js`), launcher(command, entry), { mode: 0o755 })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  cpSync(join(root, 'packages/gyro/README.md'), join(folder, 'README.md'))
}

/** Modules that the sources load when they are first needed, by a require that a bundler cannot see. */
const lateModules: Plugin = {
  name: 'late-modules',
  setup({ onLoad }) {
    onLoad({ filter: LATE_MODULES }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'createRequire(import.meta.url)(',
        'require(',
      ),
      loader: 'ts',
    }))
  },
}

/** Programs that others start: entries of the bundle, while what asks for them is one of its parts. */
const places: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    const replace = (filter: RegExp, code: string): void =>
      onLoad({ filter }, () => ({
        contents: `import { join } from 'node:path'\n${code}`,
        loader: 'js',
      }))
    replace(
      /\/up\/manager-command\.ts$/,
      "export const managerCommand = () => [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'kube-controller-manager.js')]",
    )
    replace(
      /\/up\/own-command\.ts$/,
      "export const ownCommand = () => [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'gyro.js')]",
    )
    replace(
      /\/envtest\/programs\.ts$/,
      "export const programOf = (name) => [join(import.meta.dirname, '..', name + '.js')]",
    )
  },
}

function manifest(): object {
  const { version, license } = read('packages/gyro/package.json')
  const dependencies = {
    ...(read('packages/api-server/package.json')['dependencies'] as object),
    ...(read('packages/nodes/package.json')['dependencies'] as object),
  }
  return {
    name: 'gyropilot',
    version,
    description:
      'A Kubernetes cluster in one process, and the Kubernetes control loops in TypeScript',
    license,
    type: 'module',
    bin: Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, `bin/${name}.js`])),
    files: ['bin', 'dist'],
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => !name.startsWith('@gyropilot/')),
    ),
    engines: PUBLISHED_ENGINES,
    keywords: [
      'kubernetes',
      'kube-controller-manager',
      'envtest',
      'controller',
      'operator',
      'testing',
    ],
  }
}

function read(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>
}
