import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CertificateFiles } from '@gyropilot/api-server'
import { makeDirectory } from '@gyropilot/foundation'

/** Certificates and keys kept in a directory; private keys are for this user only. */
export function directoryFiles(directory: string): CertificateFiles {
  return {
    read(name) {
      try {
        return readFileSync(join(directory, name), 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    write(name, text, secret) {
      const path = join(directory, name)
      makeDirectory(dirname(path))
      writeFileSync(path, text, { mode: secret ? 0o600 : 0o644 })
    },
  }
}
