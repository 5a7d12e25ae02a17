/** /proc/self/status, for commands that do what the kernel lets them. */
import type { Process } from '../shell/process.ts'

/** The bit of the capability that networks are administered with. */
export const NET_ADMIN = 1n << 12n

/** Empty: there is no such field. */
export async function statusField({ place }: Process, name: string): Promise<string> {
  const text = Buffer.from(await place.files.read('/proc/self/status')).toString()
  return new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? ''
}
