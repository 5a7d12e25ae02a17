import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '@gyropilot/api'
import { commonEncodingVersion } from '@gyropilot/api'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import type { NameCheck } from '@gyropilot/schema/validation/metadata'
import { dns1035Label, dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'

const BAD_VERSION =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"
const UNSET = '<unset>'

/** Served with gate StorageVersionAPI. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "StorageVersion". */
export const storageVersion: KindRules<StorageVersion> = {
  group: 'internal.apiserver.k8s.io',
  kind: 'StorageVersion',
  name: ((given) => nameProblems(given)) satisfies NameCheck,
  generationOf: null,
  unconditionalUpdate: false,
  status: {
    validateUpdate({ status = {} }, _stored, errors) {
      validateServers(status.storageVersions ?? [], errors)
      validateCommonVersion(status, errors)
      validateStates(status.conditions ?? [], errors)
    },
  },
  columns: tableColumns<StorageVersion>('internal.apiserver.k8s.io/storageversions', {
    CommonEncodingVersion: ({ status }) => status?.commonEncodingVersion ?? UNSET,
    StorageVersions({ status }) {
      const servers = status?.storageVersions ?? []
      if (servers.length === 0) return UNSET
      return servers
        .map(({ apiServerID, encodingVersion }) => `${apiServerID}=${encodingVersion}`)
        .join(',')
    },
  }),
}

/** `apps.deployments`: the resource is what stands behind the last dot. */
function nameProblems(name: string): readonly string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...dnsSubdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035Label(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ]
}

type Server = StoredOf<ServerStorageVersion>

function validateServers(servers: readonly Server[], errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, server] of servers.entries()) {
    const at = `status.storageVersions[${index}]`
    const { apiServerID = '' } = server
    if (seen.has(apiServerID)) errors.duplicate(`${at}.apiServerID`, apiServerID)
    seen.add(apiServerID)
    validateServer(server, errors, at)
  }
}

function validateServer(server: Server, errors: FieldErrors, at: string): void {
  const { apiServerID = '', encodingVersion = '' } = server
  const decodable = server.decodableVersions ?? []
  const served = server.servedVersions ?? []
  invalidAll(errors, `${at}.apiServerID`, apiServerID, dnsSubdomain(apiServerID))
  validateVersion(encodingVersion, errors, `${at}.encodingVersion`)
  for (const [index, version] of decodable.entries())
    validateVersion(version, errors, `${at}.decodableVersions[${index}]`)
  if (!decodable.includes(encodingVersion))
    errors.invalid(
      `${at}.decodableVersions`,
      givenValue(server, 'decodableVersions'),
      `decodableVersions must include encodingVersion ${encodingVersion}`,
    )
  for (const [index, version] of served.entries()) {
    const place = `${at}.servedVersions[${index}]`
    validateVersion(version, errors, place)
    if (!decodable.includes(version))
      errors.invalid(
        place,
        version,
        `individual served version : ${version} must be included in decodableVersions : [${decodable.join(' ')}]`,
      )
  }
}

function validateVersion(apiVersion: string, errors: FieldErrors, field: string): void {
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    errors.invalid(field, apiVersion, BAD_VERSION)
    return
  }
  const version = parts.at(-1)!
  const problems = [
    ...(parts.length === 2 ? partProblems('group', parts[0]!, dnsSubdomain) : []),
    ...partProblems('version', version, dns1035Label),
  ]
  if (problems.length > 0) errors.invalid(field, apiVersion, problems.join(','))
}

function partProblems(
  part: string,
  text: string,
  check: (text: string) => readonly string[],
): readonly string[] {
  const problems = text === '' ? ['must be non-empty'] : check(text)
  return problems.map((problem) => `${part} part: ${problem}`)
}

function validateCommonVersion(
  { storageVersions = [], commonEncodingVersion: told }: StoredOf<StorageVersionStatus>,
  errors: FieldErrors,
): void {
  const common = commonEncodingVersion(storageVersions)
  const at = 'status.commonEncodingVersion'
  if (common === undefined) {
    if (told !== undefined)
      errors.invalid(
        at,
        told,
        'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
      )
  } else if (told === undefined)
    errors.invalid(at, null, `the common encoding version is ${common}`)
  else if (told !== common)
    errors.invalid(at, told, `the actual common encoding version is ${common}`)
}

/** In paths of the server's own, and in other words than conditions of the shared kind. */
function validateStates(
  conditions: readonly StoredOf<StorageVersionCondition>[],
  errors: FieldErrors,
): void {
  const seen = new Map<string, number>()
  for (const [index, condition] of conditions.entries()) {
    const at = `status[${index}]`
    const { type = '', status = '', reason = '', message = '' } = condition
    const known = seen.get(type)
    if (known !== undefined)
      errors.invalid(
        `${at}.type`,
        type,
        `the type of the condition is not unique, it also appears in conditions[${known}]`,
      )
    seen.set(type, index)
    invalidAll(errors, `${at}.type`, type, qualifiedName(type))
    invalidAll(errors, `${at}.status`, status, qualifiedName(status))
    if (reason === '') errors.required(`${at}.reason`)
    if (message === '') errors.required(`${at}.message`)
  }
}
