/** Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'

export const requestWatch: Watch<CertificateSigningRequest> = {
  type: resources.certificatesigningrequests,
  onAdd: (request) => [keyOf(request)],
  onUpdate: (_, request) => [keyOf(request)],
  onDelete: (deleted) => [keyOfDeleted(deleted)],
}
