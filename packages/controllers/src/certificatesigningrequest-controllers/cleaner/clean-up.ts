/** One scan. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Cleaner. */
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { currentTimeMs, remove, write } from '@gyropilot/runtime'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { isOver } from './age-rules.ts'

export function* cleanUp(
  requests: Pick<Lister<CertificateSigningRequest>, 'list'>,
  onFailure: (request: CertificateSigningRequest, error: unknown) => void,
): Reconcile<void> {
  for (const request of requests.list()) {
    const nowMs = yield* currentTimeMs()
    if (!isOver(request, nowMs)) continue
    const outcome = yield* write(remove(resources.certificatesigningrequests, request))
    if (!outcome.ok) onFailure(request, outcome.error)
  }
}
