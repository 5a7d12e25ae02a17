/** One sync. Step numbers are those of docs/behaviour/controllers/clustertrustbundle-publisher.md. */
import { hash } from 'node:crypto'
import { apiVersionOf } from '@gyropilot/api'
import type { ClusterTrustBundle } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { create, remove, update, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { SIGNER_NAME } from './config.ts'
import type { BundleType } from './config.ts'

const NAME_BYTES = 12

/** Another text is another object: its name has a hash of it. */
export function bundleName(trustBundle: string): string {
  const digest = hash('sha256', trustBundle, 'buffer').subarray(0, NAME_BYTES).toString('hex')
  return `${SIGNER_NAME.replace('/', ':')}:${digest}`
}

/** `bundles`: all of the signer. */
export function* reconcile(
  type: BundleType,
  bundles: readonly ClusterTrustBundle[],
  trustBundle: string,
): Reconcile<Verdict> {
  // 1.
  const name = bundleName(trustBundle)
  // 2. The right one first: whoever reads finds at least one at any time.
  const known = bundles.find(({ metadata }) => metadata?.name === name)
  if (known?.spec.trustBundle !== trustBundle) {
    const right = known === undefined ? fresh(type, name, trustBundle) : changed(known, trustBundle)
    const outcome = yield* write(known === undefined ? create(type, right) : update(type, right))
    if (!outcome.ok) return { error: outcome.error }
  }
  // 3.
  let error: unknown
  for (const bundle of bundles) {
    if (bundle.metadata?.name === name) continue
    const outcome = yield* write(remove(type, bundle))
    if (!outcome.ok && !isNotFound(outcome.error)) error = outcome.error
  }
  // 4.
  return error === undefined ? {} : { error }
}

function fresh(type: BundleType, name: string, trustBundle: string): ClusterTrustBundle {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name },
    spec: { signerName: SIGNER_NAME, trustBundle },
  }
}

function changed(bundle: ClusterTrustBundle, trustBundle: string): ClusterTrustBundle {
  return { ...bundle, spec: { ...bundle.spec, trustBundle } }
}
