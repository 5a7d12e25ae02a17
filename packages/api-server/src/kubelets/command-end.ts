import type { CommandEnd } from './kubelet.ts'

/** How a command ended, as the Status that clients read from the error channel. */
export function statusOfEnd(end: CommandEnd): string {
  if ('error' in end) {
    return JSON.stringify({
      metadata: {},
      status: 'Failure',
      message: end.error,
      reason: 'InternalError',
      details: { causes: [{ message: end.error }] },
      code: 500,
    })
  }
  if (end.exitCode === 0) return JSON.stringify({ metadata: {}, status: 'Success' })
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${end.exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(end.exitCode) }] },
  })
}

/** The same for clients of the older protocols: the text of a failure, nothing for success. */
export function textOfEnd(end: CommandEnd): string {
  if ('error' in end) return end.error
  if (end.exitCode === 0) return ''
  return `command terminated with non-zero exit code: exit status ${end.exitCode}`
}

/** A run that throws is reported, not left hanging. */
export async function endOf(run: () => Promise<CommandEnd>): Promise<CommandEnd> {
  try {
    return await run()
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
