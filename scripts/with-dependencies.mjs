// Installs what is missing, then runs a command of this repository with a Node that is new enough.
//
//   node scripts/with-dependencies.mjs bin/gyro up
//
// Plain JavaScript for Node 20, because it runs before anything is installed. Silent when there is nothing to install.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...args] = process.argv.slice(2)

if (!dependenciesAreInstalled()) install()
run()

/** npm writes node_modules/.package-lock.json last, so a missing or older one is an install that is not complete. */
function dependenciesAreInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  if (statSync(installed).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs) return true
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || present[path]?.version === entry.version,
  )
}

function install() {
  process.stderr.write('gyropilot: installing dependencies (npm ci) ...\n')
  const result = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  if (result.status !== 0) {
    const why = result.error ? result.error.message : `npm ci ended with exit code ${result.status}`
    process.stderr.write(
      `gyropilot: cannot install dependencies: ${why}; check the network and run npm ci\n`,
    )
    process.exit(1)
  }
}

function run() {
  const bundled = join(root, 'node_modules', '.bin', 'node')
  const isScript = /\.m?[jt]s$/.test(command)
  const node = existsSync(bundled) ? bundled : process.execPath
  const child = isScript
    ? spawn(node, [resolve(root, command), ...args], { stdio: 'inherit' })
    : spawn(resolve(root, command), args, { stdio: 'inherit' })
  // The terminal sends Ctrl-C to the whole group: the child ends by itself and this process reports how.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('error', (error) => {
    process.stderr.write(`gyropilot: cannot run ${command}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}
