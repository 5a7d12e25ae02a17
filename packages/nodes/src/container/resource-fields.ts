/** Requests and limits as the downward API tells them. Contract: docs/behaviour/simulation/kubelet.md, Commands (environment). */
import { amountOf } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'

export interface ResourceField {
  /** Of volumes; in the environment it is the container's own. */
  readonly containerName?: string | undefined
  /** `limits.cpu`, `requests.memory`. */
  readonly resource: string
  readonly divisor?: string | number | undefined
}

/** In units of the divisor, rounded up. A limit that is not set is that of the pod, else all that the node has. */
export async function resourceValue(
  pod: Pod,
  container: Container,
  { resource, divisor = '1' }: ResourceField,
  allocatable: () => Promise<Readonly<Record<string, string | number>>>,
): Promise<string> {
  const [kind = '', name = ''] = resource.split(/\.(.*)/s)
  const isLimit = kind === 'limits'
  const of = isLimit ? container.resources?.limits : container.resources?.requests
  const ofPod = isLimit ? pod.spec?.resources?.limits : undefined
  const amount = of?.[name] ?? ofPod?.[name] ?? (isLimit ? (await allocatable())[name] : '0')
  const unit = amountOf(name, divisor) || amountOf(name, '1')
  return String(Math.ceil(amountOf(name, amount ?? '0') / unit))
}
