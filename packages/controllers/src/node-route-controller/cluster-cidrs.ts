import { parseCidr } from '@gyropilot/api'
import type { Cidr } from '@gyropilot/api'
import { defineErrors } from '@gyropilot/foundation'

/** Errors of routes that a user of cloud-controller-manager can meet. */
export const routeErrors = defineErrors({
  CLUSTER_CIDR_INVALID: {
    exitCode: 1,
    meaning:
      'Routes are to be made in the cloud, and --cluster-cidr does not say for which pods: it is missing, malformed, or more than one range of a family.',
    remedy: 'Set it to one CIDR or to one of each family, or set --configure-cloud-routes=false.',
  },
})

/** Throws CLUSTER_CIDR_INVALID. */
export function clusterCidrs(text: string): readonly Cidr[] {
  const problem = (detail: string): Error =>
    routeErrors.make('CLUSTER_CIDR_INVALID', `invalid --cluster-cidr ${quoted(text)}: ${detail}`)
  if (text.trim() === '') throw problem('routes need at least one CIDR')
  const cidrs = text.split(',').map((part) => {
    const cidr = parseCidr(part.trim())
    if (cidr === undefined) throw problem(`${quoted(part)} is not a CIDR`)
    return cidr
  })
  if (cidrs.length > 2) throw problem('expected one or two CIDRs')
  if (cidrs.length === 2 && cidrs[0]!.family === cidrs[1]!.family)
    throw problem('two CIDRs must be of different families')
  return cidrs
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
