/** Endpoints that somebody keeps by hand, for tests. */
import type { EndpointSubset, Endpoints, Service } from '@gyropilot/api'
import { CREATED, service } from '../endpoint-support/fixtures.ts'

interface CustomOptions {
  readonly uid?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly deleting?: boolean
}

/** One ready IPv4 address on port 80. */
export const ONE_SUBSET: readonly EndpointSubset[] = [
  { addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
]

export function customEndpoints(
  subsets: readonly EndpointSubset[] | undefined = ONE_SUBSET,
  options: CustomOptions = {},
): Endpoints {
  const { labels, annotations } = options
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'svc',
      namespace: 'ns',
      uid: options.uid ?? 'endpoints-uid',
      resourceVersion: '5',
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(options.deleting ? { deletionTimestamp: CREATED } : {}),
    },
    subsets,
  }
}

/** Without a selector. */
export function bareService(): Service {
  const whole = service()
  const { selector: _, ...spec } = whole.spec!
  return { ...whole, spec }
}
