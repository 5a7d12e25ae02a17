/** One scan. Step numbers are those of docs/behaviour/controllers/podcertificaterequest-cleaner-controller.md. */
import { parseTime } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { currentTimeMs, remove, write } from '@gyropilot/runtime'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { LIFETIME_MS, podCertificateRequests } from './config.ts'

export function* cleanUp(
  requests: Pick<Lister<KubernetesObject>, 'list'>,
  onFailure: (request: KubernetesObject, error: unknown) => void,
): Reconcile<void> {
  // 1.
  for (const request of requests.list()) {
    // 2. Status does not matter: what was issued lives on in the kubelet.
    const nowMs = yield* currentTimeMs()
    if (nowMs < (parseTime(request.metadata?.creationTimestamp) ?? 0) + LIFETIME_MS) continue
    const preconditions = { uid: request.metadata?.uid }
    const outcome = yield* write(remove(podCertificateRequests, request, { preconditions }))
    if (!outcome.ok && !isNotFound(outcome.error)) onFailure(request, outcome.error)
  }
}
