/** What a URL and a method ask for. Contract: docs/behaviour/api-server/requests.md, "URL grammar". */
export interface RequestInfo {
  /** Below `/api/v1` or `/apis/group/version`, with a resource named. */
  readonly isResourceRequest: boolean
  readonly path: string
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string
  /** The first segment, `api` or `apis`, of resource requests. */
  readonly prefix: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  /** A resource below `/namespaces/NAMESPACE/`, even if the segment of the namespace is empty. */
  readonly belowNamespace: boolean
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Segments after the resource: `[name, subresource, ...]`. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
  /** The deprecated `/watch/` form. */
  readonly watchPath: boolean
  /** It is no text: nothing has such a path. */
  readonly malformed: boolean
  /** It begins with two slashes: judged by what stands behind them, but no route has such a path. */
  readonly doubledSlash: boolean
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])
const EMPTY_QUERY = new URLSearchParams()

/** What stands after the question mark of a request's target, without what is malformed. */
export function queryOf(target: string): URLSearchParams {
  const questionMark = target.indexOf('?')
  if (questionMark < 0) return EMPTY_QUERY
  const text = target.slice(questionMark + 1)
  // A second question mark belongs to the first name, where URLSearchParams passes over it.
  const own = text.startsWith('?') ? `%3F${text.slice(1)}` : text
  return new URLSearchParams(MALFORMED.test(own) ? wellFormedPairs(own) : own)
}

/** A semicolon, or a percent sign without two hexadecimal digits behind it. */
const MALFORMED = /;|%(?![0-9a-f]{2})/i

function wellFormedPairs(text: string): string {
  return text
    .split('&')
    .filter((pair) => !MALFORMED.test(pair))
    .join('&')
}

/** The path has a percent sign that escapes nothing: no request at all. */
export function isUnreadable(target: string): boolean {
  if (!target.includes('%')) return false
  return /^[^?]*%(?![0-9a-f]{2})/i.test(target)
}

/** Undefined when the path cannot be taken apart (`/api/v1/watch`, `/api/v1/proxy`). */
export function parseRequestInfo(method: string, target: string): RequestInfo | undefined {
  const questionMark = target.indexOf('?')
  const path = questionMark < 0 ? target : target.slice(0, questionMark)
  const query = queryOf(target)
  const { path: unescaped, segments, malformed } = splitPath(path)
  const oddities = { malformed, doubledSlash: unescaped.startsWith('//') }
  const other = nonResource(method, unescaped, query, oddities)
  const grouped = segments[0] === 'apis'
  if ((!grouped && segments[0] !== 'api') || segments.length < (grouped ? 4 : 3)) return other

  const group = grouped ? segments[1]! : ''
  const version = grouped ? segments[2]! : segments[1]!
  let parts = segments.slice(grouped ? 3 : 2)
  let verb = VERBS[method] ?? ''
  if (parts[0] === 'proxy' && parts.length < 2) return undefined
  const watchPath = parts[0] === 'watch'
  if (watchPath) {
    if (parts.length < 2) return undefined
    verb = 'watch'
    parts = parts.slice(1)
  }
  let namespace = ''
  let belowNamespace = false
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!
    belowNamespace = parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)
    if (belowNamespace) parts = parts.slice(2)
  }
  const [resource = '', name = '', subresource = ''] = parts
  if (name === '' && verb === 'get' && method !== 'HEAD') verb = isWatch(query) ? 'watch' : 'list'
  if (name === '' && verb === 'get') verb = 'list'
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  return {
    isResourceRequest: true,
    path,
    verb,
    prefix: segments[0]!,
    group,
    version,
    namespace,
    belowNamespace,
    resource,
    subresource,
    name,
    parts: parts.slice(1),
    query,
    watchPath,
    ...oddities,
  }
}

function nonResource(
  method: string,
  path: string,
  query: URLSearchParams,
  oddities: Pick<RequestInfo, 'malformed' | 'doubledSlash'>,
): RequestInfo {
  const none = {
    prefix: '',
    group: '',
    version: '',
    namespace: '',
    belowNamespace: false,
    resource: '',
    subresource: '',
    name: '',
    parts: [],
    watchPath: false,
  }
  return { isResourceRequest: false, path, verb: method.toLowerCase(), query, ...oddities, ...none }
}

/** Any value except `false` and `0` is true, also the empty one. */
export function isWatch(query: URLSearchParams): boolean {
  return isTrue(query.get('watch'))
}

/** How the server reads boolean parameters. */
export function isTrue(value: string | null): boolean {
  if (value === null) return false
  const lower = value.toLowerCase()
  return lower !== 'false' && lower !== '0'
}

/** Slashes at the end do not count. Not a pattern: those try every slash of a long path. */
export function withoutLastSlashes(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** An empty namespace segment stays and means all namespaces. An escaped slash parts segments too. */
function splitPath(target: string): { path: string; segments: string[]; malformed: boolean } {
  let path = target
  let malformed = false
  if (target.includes('%')) {
    try {
      path = decodeURIComponent(target)
    } catch {
      malformed = true
    }
  }
  const segments = withoutLastSlashes(path.replace(/^\/+/, '')).split('/')
  return { path, segments, malformed }
}
