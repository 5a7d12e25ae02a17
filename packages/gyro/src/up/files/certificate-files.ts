import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateFiles } from '@gyropilot/api-server'
import { replaceFile } from './private-file.ts'

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
      replaceFile(join(directory, name), text, secret ? 0o600 : 0o644)
    },
  }
}
