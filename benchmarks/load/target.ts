/** The server under load: a `gyro up` of its own, or any other that is given by URL and token. */
import { startGyro } from '../../tests/end-to-end/gyro-process.ts'

export interface Target {
  readonly server: string
  readonly token: string
  /** Undefined for a server that this process did not start: its memory is another's matter. */
  readonly pid: number | undefined
  stop(): Promise<void>
}

export async function openTarget(
  server: string | undefined,
  token: string | undefined,
  args: readonly string[] = [],
): Promise<Target> {
  if (server !== undefined) {
    if (token === undefined) throw new Error('--server needs --token')
    return { server, token, pid: undefined, stop: async () => {} }
  }
  const gyro = await startGyro(['--components=api-server', ...args])
  return {
    server: gyro.server,
    token: gyro.token,
    pid: gyro.process.pid!,
    stop: async () => void (await gyro.stop()),
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
