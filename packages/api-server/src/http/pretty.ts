import type { RequestInfo } from './request-info.ts'
import { isTrue } from './request-info.ts'

/** `?pretty=` wins; without it browsers, curl and wget get indented JSON. */
export function isPretty(info: RequestInfo, userAgent: string | undefined): boolean {
  const asked = info.query.get('pretty')
  if (asked !== null) return isTrue(asked)
  if (userAgent === undefined) return false
  return (
    userAgent.startsWith('curl') ||
    userAgent.startsWith('Wget') ||
    userAgent.startsWith('Mozilla/5.0')
  )
}
