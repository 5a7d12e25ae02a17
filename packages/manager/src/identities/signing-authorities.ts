/** Who signs for whom, from --cluster-signing-*. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Flags and configuration. */
import { SIGNER_NAMES } from '@gyropilot/controllers'
import type { AuthoritySource, SignerName } from '@gyropilot/controllers'
import { errorText } from '@gyropilot/foundation'
import type { Options } from '../options/options.ts'

/** In the middle of the signer's flags. */
const FLAGS: Readonly<Record<SignerName, string>> = {
  'kubernetes.io/kubelet-serving': 'kubelet-serving-',
  'kubernetes.io/kube-apiserver-client-kubelet': 'kubelet-client-',
  'kubernetes.io/kube-apiserver-client': 'kube-apiserver-client-',
  'kubernetes.io/legacy-unknown': 'legacy-unknown-',
}
/** Files are watched upstream; looking at them this often is as good. */
const REREAD_EVERY_MS = 2_000

/** With a general pair of files all signers have it, else each its own, and those without do not sign. */
export function signingAuthorities(
  options: Pick<Options, 'text'>,
  readTextFile: (path: string) => Promise<string>,
): Partial<Record<SignerName, AuthoritySource>> {
  const general = sourceOf(options, '', readTextFile)
  const found: Partial<Record<SignerName, AuthoritySource>> = {}
  for (const name of SIGNER_NAMES) {
    const source = general ?? sourceOf(options, FLAGS[name], readTextFile)
    if (source !== undefined) found[name] = source
  }
  return found
}

/** As upstream: it names the certificate's file when the key's is the one that cannot be read. */
async function readFor(
  certFile: string,
  file: string,
  readTextFile: (path: string) => Promise<string>,
): Promise<string> {
  try {
    return await readTextFile(file)
  } catch (error) {
    const message = `error reading CA cert file ${JSON.stringify(certFile)}: ${errorText(error)}`
    throw new Error(message, { cause: error })
  }
}

function sourceOf(
  options: Pick<Options, 'text'>,
  middle: string,
  readTextFile: (path: string) => Promise<string>,
): AuthoritySource | undefined {
  const certFile = options.text(`cluster-signing-${middle}cert-file`)
  const keyFile = options.text(`cluster-signing-${middle}key-file`)
  if (certFile === '' || keyFile === '') return undefined
  return {
    read: async () => ({
      certificatePem: await readFor(certFile, certFile, readTextFile),
      privateKeyPem: await readFor(certFile, keyFile, readTextFile),
    }),
    rereadEveryMs: REREAD_EVERY_MS,
  }
}
