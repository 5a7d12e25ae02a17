const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

/** `?pretty=` wins; without it browsers, curl and wget get indented JSON. */
export function isPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get('pretty')
  if (asked !== null && asked !== '') return TRUE.has(asked)
  if (userAgent === undefined) return false
  return (
    userAgent.startsWith('curl') ||
    userAgent.startsWith('Wget') ||
    userAgent.startsWith('Mozilla/5.0')
  )
}
