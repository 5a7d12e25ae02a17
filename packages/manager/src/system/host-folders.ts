/** Folders of this machine, for volumes of the plugin kubernetes.io/host-path. */
import { rm } from 'node:fs/promises'
import { makeDirectory } from '@gyropilot/foundation'

export const hostFolders = {
  async make(path: string): Promise<void> {
    makeDirectory(path, 0o750)
  },
  async remove(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true })
  },
}
