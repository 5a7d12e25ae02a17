/** What kubelets may ask for. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Signer rules. */
import type { SigningRequest } from '@gyropilot/foundation/x509'

const NODES_ORGANIZATION = 'system:nodes'
const NODE_NAME_PREFIX = 'system:node:'

/** Undefined: the request is good. Else the first thing that is wrong, as the condition says it. */
export type Problem = string | undefined

export function kubeletClientProblem(request: SigningRequest, usages: readonly string[]): Problem {
  return (
    organizationProblem(request) ??
    (request.dnsNames.length > 0 ? 'DNS subjectAltNames are not allowed' : undefined) ??
    (request.emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
    (request.ipAddresses.length > 0 ? 'IP subjectAltNames are not allowed' : undefined) ??
    (request.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
    nameProblem(request) ??
    usagesProblem(usages, 'client auth')
  )
}

export function kubeletServingProblem(request: SigningRequest, usages: readonly string[]): Problem {
  const isNamed = request.dnsNames.length > 0 || request.ipAddresses.length > 0
  return (
    organizationProblem(request) ??
    (isNamed ? undefined : 'DNS or IP subjectAltName is required') ??
    (request.emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
    (request.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
    usagesProblem(usages, 'server auth') ??
    nameProblem(request)
  )
}

function organizationProblem({ subject }: SigningRequest): Problem {
  const [only, ...others] = subject.organizations
  if (only === NODES_ORGANIZATION && others.length === 0) return undefined
  return 'subject organization is not system:nodes'
}

function nameProblem({ subject }: SigningRequest): Problem {
  if (subject.commonName.startsWith(NODE_NAME_PREFIX)) return undefined
  return 'subject common name does not begin with system:node:'
}

/** Sets: order and repetition do not matter. `key encipherment` may be among them, for RSA keys. */
function usagesProblem(usages: readonly string[], purpose: string): Problem {
  const required = ['digital signature', purpose]
  const known = [...required, 'key encipherment'].toSorted()
  const fits =
    required.every((usage) => usages.includes(usage)) &&
    usages.every((usage) => known.includes(usage))
  return fits ? undefined : `usages did not match [${known.join(' ')}]`
}
