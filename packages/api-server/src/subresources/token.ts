/** Issues service account tokens. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Token requests". */
import { formatTime } from '@gyropilot/foundation'
import type { ServiceAccountTokens } from '../auth/index.ts'
import type { SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest, conflict, invalid, notFound, preconditionFailed } from '../http/errors.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { created, parentOf } from './answers.ts'

const DEFAULT_SECONDS = 3600
const MINIMUM_SECONDS = 600
const MAXIMUM_SECONDS = 2 ** 32
const BINDABLE: Readonly<Record<string, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' }

function applyDefaults(body: Draft): void {
  const spec: Draft = (body['spec'] ??= {})
  spec['expirationSeconds'] ??= DEFAULT_SECONDS
}

export function serviceAccountToken(tokens: ServiceAccountTokens): SubresourceHandler {
  return {
    group: '',
    resource: 'serviceaccounts',
    subresource: 'token',
    methods: ['POST'],
    sendsIdentity: true,
    defaults: applyDefaults,
    check(call) {
      const body = call.body ?? {}
      // Admission may have taken away what was filled in.
      applyDefaults(body)
      if (body['metadata']?.name && body['metadata'].name !== call.name) {
        const errors = new FieldErrors()
        const why = 'must match the service account name if specified'
        errors.invalid('metadata.name', body['metadata'].name, why)
        throw invalid('authentication.k8s.io', 'TokenRequest', call.name, errors.list)
      }
      const account = parentOf(call)
      checkAccount(account, body['metadata']?.uid ?? '')
      // Who judges the request sees whose token it will be, and for whom.
      const { name, namespace, uid } = account['metadata']
      const creationTimestamp = formatTime(call.nowMs)
      body['metadata'] = { ...body['metadata'], name, namespace, uid, creationTimestamp }
      const { spec } = body
      if (!(spec.audiences?.length > 0)) spec.audiences = [...tokens.audiences]
      checkExpiration(spec.expirationSeconds)
    },
    async handle(call) {
      const body = call.body ?? {}
      const spec = { ...body['spec'] }
      const { expirationSeconds, audiences } = spec as {
        readonly expirationSeconds: number
        readonly audiences: readonly string[]
      }
      const account = parentOf(call)
      const bound = boundObjects(call, spec.boundObjectRef)
      const { token, expirationMs } = tokens.issue({
        serviceAccount: account,
        audiences,
        expirationSeconds,
        ...bound,
      })
      return created({
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: body['metadata'],
        spec: { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
        status: { token, expirationTimestamp: formatTime(expirationMs) },
      })
    },
  }
}

/** Whoever names an account by its uid means that one and no namesake. */
function checkAccount({ metadata }: Stored, wantedUid: string): void {
  if (wantedUid === '' || wantedUid === metadata.uid) return
  const type = { group: 'authentication.k8s.io', resource: 'TokenRequest', kind: 'TokenRequest' }
  const why = `the UID in the token request (${wantedUid}) does not match the UID of the service account (${metadata.uid})`
  throw conflict(type, metadata.name, why)
}

function checkExpiration(seconds: number): void {
  const errors = new FieldErrors()
  const field = 'spec.expirationSeconds'
  if (seconds < MINIMUM_SECONDS)
    errors.invalid(field, seconds, 'may not specify a duration less than 10 minutes')
  if (seconds > MAXIMUM_SECONDS)
    errors.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')
  if (errors.list.length > 0)
    throw invalid('authentication.k8s.io', 'TokenRequest', '', errors.list)
}

interface Bound {
  readonly pod?: Stored
  readonly secret?: Stored
  readonly node?: { readonly name: string; readonly uid?: string }
}

/** What cannot be read as `group/version` counts as nothing said, so that the kind alone decides. */
function boundGroupVersion(apiVersion: string): {
  readonly group: string
  readonly version: string
} {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return { group: '', version: '' }
  const [group, version] = parts.length === 2 ? parts : ['', apiVersion]
  return { group: group!, version: version! }
}

/** The object a token lives and dies with; a bound pod brings its node along. */
function boundObjects(call: SubresourceCall, reference: Stored | undefined): Bound {
  if (reference === undefined || reference === null) return {}
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference as Record<string, string>
  const resource = BINDABLE[kind]
  const { group, version } = boundGroupVersion(apiVersion)
  if (resource === undefined || group !== '') {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  if (name === '') throw badRequest('Name parameter required.')
  const type = { group: '', resource, kind }
  const object = call.server.get('', resource, kind === 'Node' ? '' : call.namespace, name)
  if (object === undefined) throw notFound(type, name)
  const actualUid: string = object['metadata'].uid
  if (uid !== '' && uid !== actualUid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw preconditionFailed(type, name, why)
  }
  if (kind === 'Secret') return { secret: object }
  if (kind === 'Node') return { node: { name, uid: actualUid } }
  const accountName = object['spec'].serviceAccountName
  if (accountName !== call.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(call.name)} to pod running with different serviceaccount name.`,
    )
  }
  const nodeName: string = object['spec'].nodeName ?? ''
  if (nodeName === '') return { pod: object }
  const nodeUid = call.server.get('', 'nodes', '', nodeName)?.['metadata'].uid
  return {
    pod: object,
    node: { name: nodeName, ...(nodeUid === undefined ? {} : { uid: nodeUid }) },
  }
}
