import type { ListOptions, WatchOptions } from '@gyropilot/client'

/**
 * Why an API server refuses these options, or undefined. Without it a test's server takes what a real one does not.
 * Contract: docs/behaviour/api-server/storage-and-watch.md, the tables of list and watch.
 */
export function refusalOf(
  verb: 'list' | 'watch',
  options: Partial<ListOptions & WatchOptions>,
): string | undefined {
  const { resourceVersion = '', resourceVersionMatch, sendInitialEvents } = options
  const match = resourceVersionMatch as string | undefined
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion))
    return `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}`
  if (match !== undefined && match !== 'Exact' && match !== 'NotOlderThan')
    return `resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}`
  if (sendInitialEvents !== undefined) {
    if (verb === 'list') return 'sendInitialEvents is forbidden for list'
    if (match !== 'NotOlderThan')
      return 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    return undefined
  }
  if (match === undefined)
    return options.continue && resourceVersion !== '' && resourceVersion !== '0'
      ? 'specifying resource version is not allowed when using continue'
      : undefined
  if (verb === 'watch')
    return 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
  if (options.continue) return 'resourceVersionMatch is forbidden when continue is provided'
  if (resourceVersion === '')
    return 'resourceVersionMatch is forbidden unless resourceVersion is provided'
  if (match === 'Exact' && resourceVersion === '0')
    return 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
  return undefined
}
