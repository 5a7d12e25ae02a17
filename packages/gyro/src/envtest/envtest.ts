/** `gyro envtest`: prints a folder with the programs that a test harness looks for. */
import { accessSync, constants, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileProblem } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { helpPage } from '../flag-help.ts'
import { flagsOf } from '../flags.ts'
import { writeAssets } from './assets.ts'
import { envtestFlags } from './envtest-flags.ts'

const HELP = `Prints a folder with kube-apiserver, etcd and kubectl, for test harnesses that start these: the API server is gyropilot's, ready
in some tenths of a second.

Examples:
  KUBEBUILDER_ASSETS=$(gyro envtest) go test ./...                          as with the real programs
  KUBEBUILDER_ASSETS=$(gyro envtest) GYRO_CONTROLLERS='*' go test ./...     with controllers, scheduler and a simulated node

Usage:
  gyro envtest [flags]

Flags:
`

export function envtestCommand(args: readonly string[]): void {
  const { values } = flagsOf(envtestFlags, args, 'gyro envtest', invalid)
  if (values.get('help') === true) {
    process.stdout.write(helpPage(HELP, envtestFlags, process.stdout.columns ?? 100))
    return
  }
  const folder = resolve((values.get('dir') as string) || usualFolder())
  const kubectl = kubectlOf(values.get('kubectl') as string, folder)
  try {
    writeAssets({ folder, kubectl, node: process.execPath })
  } catch (error) {
    throw gyroErrors.make(
      'ASSETS_NOT_WRITTEN',
      `cannot write the programs: ${fileProblem(error)}: choose another folder with --dir`,
    )
  }
  process.stdout.write(`${folder}\n`)
}

function usualFolder(): string {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(caches, 'gyropilot', 'envtest')
}

/** Empty: there is none. */
function kubectlOf(given: string, folder: string): string {
  if (given !== '') {
    if (!isProgram(resolve(given))) throw invalid(`--kubectl=${given} is not a program`)
    return resolve(given)
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const own = existing(folder)
  const found = folders
    .filter((one) => one !== '' && existing(one) !== own)
    .map((one) => join(one, 'kubectl'))
    .find(isProgram)
  return found ?? ''
}

/** Its real path, or as it was given when it does not exist. */
function existing(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('ENVTEST_FLAG_INVALID', message, { cause })
}
