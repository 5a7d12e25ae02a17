/** How the generated names of slices begin. */
import { dnsSubdomainProblems } from '@gyropilot/api'

/** `name-`, unless no name can begin with that. */
export function sliceNamePrefix(name: string): string {
  // The generated suffix follows the dash.
  return dnsSubdomainProblems(`${name}-x`).length === 0 ? `${name}-` : name
}
