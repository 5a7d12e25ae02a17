/** `gyro version`, for people and for programs. */
import { KUBERNETES_VERSION } from '@gyropilot/api'
import { gyroErrors } from '../errors.ts'
import { helpPage } from '../flag-help.ts'
import { flagsOf } from '../flags.ts'
import { VERSION } from '../version.ts'
import { versionFlags, versionHelp } from './version-flags.ts'

export function versionCommand(args: readonly string[]): void {
  const { values } = flagsOf(versionFlags, args, 'gyro version', invalid)
  if (values.get('help') === true) {
    process.stdout.write(helpPage(versionHelp, versionFlags, process.stdout.columns ?? 100))
    return
  }
  process.stdout.write(versionText(values.get('output') as 'text' | 'json'))
}

export function versionText(output: 'text' | 'json'): string {
  if (output === 'text') return `gyro v${VERSION} (Kubernetes v${KUBERNETES_VERSION})\n`
  return `${JSON.stringify({ version: VERSION, kubernetes: KUBERNETES_VERSION })}\n`
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('VERSION_FLAG_INVALID', message, { cause })
}
