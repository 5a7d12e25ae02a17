/** Writes what nobody but the manager knows: the pair of --cert-dir. */
import { chmod, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectory } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'

/** The certificate may be read by all, the key by its owner only. Folders are made. */
export async function writeCertificateFiles(
  certFile: string,
  keyFile: string,
  { certificatePem, privateKeyPem }: CertificateAndKey,
): Promise<void> {
  makeDirectory(dirname(certFile), 0o755)
  await writeFile(keyFile, privateKeyPem, { mode: 0o600 })
  // The mode above counts for new files only.
  await chmod(keyFile, 0o600)
  await writeFile(certFile, certificatePem, { mode: 0o644 })
}
