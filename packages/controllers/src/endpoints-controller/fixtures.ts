/** Endpoints as this controller leaves them, for tests. */
import type { EndpointSubset, Endpoints, ObjectMeta } from '@gyropilot/api'
import { CREATED } from '../endpoint-support/fixtures.ts'

interface EndpointsOptions {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly resourceVersion?: string
  readonly subsets?: readonly EndpointSubset[] | null
}

/** Of `service()`: by the hand of this controller, without addresses. */
export function endpoints(options: EndpointsOptions = {}): Endpoints {
  const { name = 'svc', labels, annotations, resourceVersion = '5', subsets } = options
  const metadata: ObjectMeta = {
    name,
    namespace: 'ns',
    uid: `${name}-endpoints-uid`,
    creationTimestamp: CREATED,
    resourceVersion,
    labels: labels ?? { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    ...(annotations === undefined ? {} : { annotations }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata,
    ...(subsets === undefined ? {} : { subsets: subsets as readonly EndpointSubset[] }),
  }
}
