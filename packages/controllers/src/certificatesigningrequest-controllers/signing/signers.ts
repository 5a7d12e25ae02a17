/** The built-in signers, and what each of them refuses. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Signer rules. */
import type { SigningRequest } from '@gyropilot/foundation/x509'
import { kubeletClientProblem, kubeletServingProblem } from '../kubelet-requests.ts'
import type { Problem } from '../kubelet-requests.ts'
import type { SignerName } from './config.ts'

type Rule = (request: SigningRequest, usages: readonly string[]) => Problem

export const signerRules: Readonly<Record<SignerName, Rule>> = {
  'kubernetes.io/kubelet-serving': kubeletServingProblem,
  'kubernetes.io/kube-apiserver-client-kubelet': kubeletClientProblem,
  'kubernetes.io/kube-apiserver-client': (_, usages) => clientUsagesProblem(usages),
  'kubernetes.io/legacy-unknown': () => undefined,
}

const CLIENT_USAGES: ReadonlySet<string> = new Set([
  'digital signature',
  'key encipherment',
  'client auth',
])

function clientUsagesProblem(usages: readonly string[]): Problem {
  const other = usages.find((usage) => !CLIENT_USAGES.has(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  if (usages.includes('client auth')) return undefined
  return 'missing required usage for client certificate: client auth'
}
