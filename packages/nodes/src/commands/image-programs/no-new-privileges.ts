/** The program of the image `nonewprivs`: it is root's and runs as its owner, if the kernel lets it, and says whom it runs as. */
import type { Command } from '../../shell/process.ts'
import { statusField } from '../process-status.ts'

export const noNewPrivileges: Command = async (task) => {
  const isHeld = (await statusField(task, 'NoNewPrivs')) === '1'
  await task.out(`Effective uid: ${isHeld ? task.place.user.uid : 0}\n`)
  return 0
}
