/** Contract: docs/behaviour/controllers/resourceclaim-controller.md, Metrics. */
import { EXTENDED_CLAIM_ANNOTATION } from '@gyropilot/api'
import type { ResourceClaim } from '@gyropilot/api'
import type { Labels, MetricsRegistry } from '@gyropilot/foundation'
import { POD_CLAIM_ANNOTATION } from './config.ts'
import { asksForAdminAccess } from './new-claim.ts'

const PREFIX = 'resourceclaim_controller'

/** Hears of every create that was tried. */
export type OnCreated = (claim: ResourceClaim, succeeded: boolean) => void

export function creationMetrics(metrics: MetricsRegistry): OnCreated {
  const creates = metrics.counter({
    name: `${PREFIX}_creates_total`,
    help: 'Number of ResourceClaims creation requests, categorized by creation status and admin access',
    labels: ['admin_access', 'status'],
  })
  return (claim, succeeded) =>
    creates.increment({
      admin_access: adminAccess(claim),
      status: succeeded ? 'success' : 'failure',
    })
}

/** Counts what is cached each time that somebody asks. */
export function claimsMetric(
  metrics: MetricsRegistry,
  claims: () => readonly ResourceClaim[],
): void {
  const gauge = metrics.gauge({
    name: `${PREFIX}_resource_claims`,
    help: "Number of ResourceClaims, categorized by allocation status, admin access, and source. Source can be 'resource_claim_template' (created from a template), 'extended_resource' (extended resources), or empty (manually created by a user).",
    labels: ['admin_access', 'allocated', 'source'],
  })
  // A series that was shown once stays, at 0.
  const shown = new Map<string, Labels>()
  metrics.onCollect(() => {
    const counts = new Map<string, number>()
    for (const claim of claims()) {
      const labels = labelsOf(claim)
      const id = JSON.stringify(labels)
      shown.set(id, labels)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    for (const [id, labels] of shown) gauge.set(counts.get(id) ?? 0, labels)
  })
}

function labelsOf(claim: ResourceClaim): Labels {
  return {
    admin_access: adminAccess(claim),
    allocated: String(claim.status?.allocation !== undefined),
    source: sourceOf(claim.metadata?.annotations ?? {}),
  }
}

function adminAccess(claim: ResourceClaim): string {
  return String(asksForAdminAccess(claim.spec?.devices?.requests))
}

function sourceOf(annotations: Readonly<Record<string, string>>): string {
  if (annotations[EXTENDED_CLAIM_ANNOTATION] === 'true') return 'extended_resource'
  return annotations[POD_CLAIM_ANNOTATION] ? 'resource_claim_template' : ''
}
