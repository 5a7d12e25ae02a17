import { DEFAULT_AUTHORIZATION_MODES } from './auth/index.ts'
import { IN_FLIGHT_LIMITS } from './handlers/limits/in-flight.ts'
import type { ApiServerOptions } from './server-options.ts'
import { DEFAULT_SERVICE_RANGES } from './service-ips/index.ts'

export const DEFAULT_ADDRESS = '127.0.0.1'

/** What is set, under the names of kube-apiserver's flags: what /flagz shows. */
export function flagsOf(options: ApiServerOptions): ReadonlyMap<string, string> {
  const { inFlight = IN_FLIGHT_LIMITS, runtimeConfig = {}, serviceRanges } = options
  const { authorizationModes = DEFAULT_AUTHORIZATION_MODES } = options
  const served = Object.entries(runtimeConfig).map(([name, on]) => `${name}=${on}`)
  return new Map([
    ['advertise-address', options.advertiseAddress ?? DEFAULT_ADDRESS],
    ['authorization-mode', `[${authorizationModes.join(',')}]`],
    ['max-mutating-requests-inflight', String(inFlight.mutating)],
    ['max-requests-inflight', String(inFlight.reading)],
    ['runtime-config', served.sort().join(',')],
    ['service-cluster-ip-range', (serviceRanges ?? DEFAULT_SERVICE_RANGES).join(',')],
  ])
}
