/** The one custom resource that `agnhost crd-conversion-webhook` converts: `hostPort: a:1` of v1 is `host: a`, `port: "1"` of v2. */

interface CustomResource {
  readonly apiVersion: string
  readonly hostPort?: string
  readonly host?: string
  readonly port?: string
}

type Converted =
  | { readonly convertedObjects: readonly CustomResource[]; readonly result: { status: 'Success' } }
  | { readonly result: { readonly status: 'Failure'; readonly message: string } }

const V1 = 'stable.example.com/v1'
const V2 = 'stable.example.com/v2'

/** All of them, or why the first cannot be converted. */
export function convertedReview(objects: readonly CustomResource[], to: string): Converted {
  const convertedObjects: CustomResource[] = []
  for (const object of objects) {
    const converted = convert(object, to)
    if (typeof converted === 'string') return { result: { status: 'Failure', message: converted } }
    convertedObjects.push({ ...converted, apiVersion: to })
  }
  return { convertedObjects, result: { status: 'Success' } }
}

function convert(object: CustomResource, to: string): CustomResource | string {
  const { apiVersion: from, ...rest } = object
  if (from === to) return `conversion from a version to itself should not call the webhook: ${to}`
  if (from !== V1 && from !== V2) return unexpected(from)
  if (to !== (from === V1 ? V2 : V1)) return unexpected(to)
  const { host, port, hostPort, ...others } = rest
  if (to === V1) {
    if (host === undefined && port === undefined) return object
    return { ...others, apiVersion: to, hostPort: `${host ?? ''}:${port ?? ''}` }
  }
  if (hostPort === undefined) return object
  const parts = hostPort.split(':')
  if (parts.length !== 2) return `invalid hostPort value \`${hostPort}\``
  return { ...others, apiVersion: to, host: parts[0]!, port: parts[1]! }
}

function unexpected(version: string): string {
  return `unexpected conversion version ${JSON.stringify(version)}`
}
