/** Folders of this machine, for volumes of the plugin kubernetes.io/host-path. */
import { mkdir, rm } from 'node:fs/promises'

export const hostFolders = {
  async make(path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o750 })
  },
  async remove(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true })
  },
}
