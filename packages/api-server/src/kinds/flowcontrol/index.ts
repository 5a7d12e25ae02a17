import type { Subject } from '@gyropilot/api/flowcontrol-v1'
import type {
  FlowSchema,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  QueuingConfiguration,
  ResourcePolicyRule,
} from '@gyropilot/api'
import type { KindRules, StoredOf, SubresourceRules } from '../../registry/kind-rules.ts'
import { compareStrings } from '@gyropilot/foundation'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { validateMandatoryLevel, validateMandatorySchema } from './mandatory.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { validateConditionTypes } from '../conditions.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'

const SUBJECTS: ReadonlyMap<string, 'serviceAccount' | 'user' | 'group'> = new Map([
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
])

function validateSubject(subject: StoredOf<Subject>, errors: FieldErrors, field: string): void {
  const { kind = '' } = subject
  const own = SUBJECTS.get(kind)
  if (own === undefined) {
    errors.notSupported(`${field}.kind`, kind, ['Group', 'ServiceAccount', 'User'])
    return
  }
  const at = `${field}.${own}`
  const named: { readonly name?: string; readonly namespace?: string } | undefined = subject[own]
  if (!named) errors.required(at, `${own} is required when subject kind is '${kind}'`)
  else {
    const { name = '', namespace = '' } = named
    if (name === '') errors.required(`${at}.name`)
    if (kind === 'ServiceAccount') validateServiceAccount(name, namespace, errors, at)
  }
  for (const [other, member] of SUBJECTS) {
    if (other !== kind && subject[member])
      errors.forbidden(
        `${field}.${member}`,
        `${member} is forbidden when subject kind is not '${other}'`,
      )
  }
}

function validateServiceAccount(
  name: string,
  namespace: string,
  errors: FieldErrors,
  field: string,
): void {
  if (name !== '' && name !== '*') invalidAll(errors, `${field}.name`, name, dnsSubdomain(name))
  if (namespace === '')
    errors.required(`${field}.namespace`, 'must specify namespace for service account')
  else invalidAll(errors, `${field}.namespace`, namespace, dnsLabel(namespace))
}

function validateRule(
  rule: StoredOf<PolicyRulesWithSubjects>,
  errors: FieldErrors,
  field: string,
): void {
  if ((rule.subjects ?? []).length === 0)
    errors.required(`${field}.subjects`, 'subjects must contain at least one value')
  for (const [index, subject] of (rule.subjects ?? []).entries())
    validateSubject(subject, errors, `${field}.subjects[${index}]`)
  if ((rule.resourceRules ?? []).length === 0 && (rule.nonResourceRules ?? []).length === 0) {
    errors.required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')
  }
  for (const [index, resource] of (rule.resourceRules ?? []).entries())
    validateResourceRule(resource, errors, `${field}.resourceRules[${index}]`)
  for (const [index, other] of (rule.nonResourceRules ?? []).entries())
    validateNonResourceRule(other, errors, `${field}.nonResourceRules[${index}]`)
}

const VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
]

/** Reports an empty list and one in which `*` is not alone; tells whether its values are to be looked at. */
function hasNamedValues(
  values: readonly string[] | undefined,
  missing: string,
  others: string,
  errors: FieldErrors,
  field: string,
): boolean {
  const list = values ?? []
  if (list.length === 0) errors.required(field, missing)
  else if (!list.includes('*')) return true
  else if (list.length > 1)
    errors.invalid(field, list, `if '*' is present, must not specify other ${others}`)
  return false
}

function validateVerbs(
  rule: { readonly verbs?: readonly string[] },
  errors: FieldErrors,
  field: string,
): void {
  const at = `${field}.verbs`
  if (!hasNamedValues(rule.verbs, 'verbs must contain at least one value', 'verbs', errors, at))
    return
  if (rule.verbs?.some((verb) => !VERBS.includes(verb))) errors.notSupported(at, rule.verbs, VERBS)
}

function validateResourceRule(
  rule: StoredOf<ResourcePolicyRule>,
  errors: FieldErrors,
  field: string,
): void {
  validateVerbs(rule, errors, field)
  hasNamedValues(
    rule.apiGroups,
    'resource rules must supply at least one api group',
    'api groups',
    errors,
    `${field}.apiGroups`,
  )
  hasNamedValues(
    rule.resources,
    'resource rules must supply at least one resource',
    'resources',
    errors,
    `${field}.resources`,
  )
  const at = `${field}.namespaces`
  const namespaces: readonly string[] = rule.namespaces ?? []
  if (namespaces.length === 0 && rule.clusterScope === true) return
  const missing = 'resource rules that are not cluster scoped must supply at least one namespace'
  if (!hasNamedValues(namespaces, missing, 'namespaces', errors, at)) return
  for (const [index, namespace] of namespaces.entries())
    for (const message of dnsLabel(namespace))
      errors.invalid(
        `${at}[${index}]`,
        namespace,
        `each member of this list must be '*' or a DNS-1123 label; ${message}`,
      )
}

function validateNonResourceRule(
  rule: StoredOf<NonResourcePolicyRule>,
  errors: FieldErrors,
  field: string,
): void {
  validateVerbs(rule, errors, field)
  const at = `${field}.nonResourceURLs`
  const missing = 'nonResourceURLs must contain at least one value'
  if (!hasNamedValues(rule.nonResourceURLs, missing, 'non-resource URLs', errors, at)) return
  for (const [index, url] of (rule.nonResourceURLs ?? []).entries()) {
    const problem = urlProblem(url)
    if (problem !== undefined) errors.invalid(`${at}[${index}]`, url, problem)
  }
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const wildcards = url.split('*').length - 1
  if (wildcards > 1 || (wildcards === 1 && !url.endsWith('/*')))
    return 'wildcard can only do suffix matching'
  return undefined
}

const status: SubresourceRules = {
  validateUpdate: (object, _stored, errors) =>
    validateConditionTypes(object.status?.conditions, errors, 'status.conditions'),
}

export const flowSchema: KindRules<FlowSchema> = {
  group: GROUP,
  kind: 'FlowSchema',
  status,
  defaults(object) {
    object.spec ??= {}
    object.spec.matchingPrecedence ||= 1000
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const precedence: number = spec.matchingPrecedence ?? 0
    if (precedence <= 0)
      errors.invalid('spec.matchingPrecedence', precedence, 'must be a positive value')
    if (precedence > 10000)
      errors.invalid('spec.matchingPrecedence', precedence, 'must not be greater than 10000')
    if (precedence === 1 && object.metadata?.name !== 'exempt')
      errors.invalid(
        'spec.matchingPrecedence',
        precedence,
        "only the schema named 'exempt' may have matchingPrecedence 1",
      )
    const { type: method = '' } = spec.distinguisherMethod ?? {}
    if (spec.distinguisherMethod && !['ByNamespace', 'ByUser'].includes(method))
      errors.notSupported('spec.distinguisherMethod.type', { Type: method }, [
        'ByNamespace',
        'ByUser',
      ])
    const level: string = spec.priorityLevelConfiguration?.name ?? ''
    if (level === '')
      errors.required('spec.priorityLevelConfiguration.name', 'must reference a priority level')
    else invalidAll(errors, 'spec.priorityLevelConfiguration.name', level, dnsSubdomain(level))
    for (const [index, rule] of (spec.rules ?? []).entries())
      validateRule(rule, errors, `spec.rules[${index}]`)
    validateMandatorySchema(object, errors)
  },
  // As they are tried.
  rowOrder: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) ||
    compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? ''),
  columns: tableColumns('flowcontrol.apiserver.k8s.io/flowschemas', {
    PriorityLevel: (object) => object.spec?.priorityLevelConfiguration?.name ?? '',
    MatchingPrecedence: (object) => object.spec?.matchingPrecedence ?? 0,
    DistinguisherMethod: (object) => object.spec?.distinguisherMethod?.type ?? '<none>',
    MissingPL: (object) => {
      const dangling = object.status?.conditions?.find(({ type }) => type === 'Dangling')
      return dangling === undefined ? '?' : (dangling.status ?? '')
    },
  }),
}

function validateShares(
  part: { readonly nominalConcurrencyShares?: number },
  errors: FieldErrors,
  field: string,
): void {
  if ((part.nominalConcurrencyShares ?? 0) < 0)
    errors.invalid(
      `${field}.nominalConcurrencyShares`,
      part.nominalConcurrencyShares,
      'must be a non-negative integer',
    )
}

function validateLendable(
  part: { readonly lendablePercent?: number },
  errors: FieldErrors,
  field: string,
): void {
  const { lendablePercent = 0 } = part
  if (lendablePercent < 0 || lendablePercent > 100)
    errors.invalid(
      `${field}.lendablePercent`,
      lendablePercent,
      'must be between 0 and 100, inclusive',
    )
}

function validateLimited(
  limited: StoredOf<LimitedPriorityLevelConfiguration>,
  errors: FieldErrors,
): void {
  validateShares(limited, errors, 'spec.limited')
  validateLimitResponse(limited.limitResponse ?? {}, errors, 'spec.limited.limitResponse')
  validateLendable(limited, errors, 'spec.limited')
  if ((limited.borrowingLimitPercent ?? 0) < 0)
    errors.invalid(
      'spec.limited.borrowingLimitPercent',
      limited.borrowingLimitPercent,
      'if specified, must be a non-negative integer',
    )
}

function validateLimitResponse(
  { type = '', queuing }: StoredOf<LimitResponse>,
  errors: FieldErrors,
  at: string,
): void {
  if (type === 'Reject') {
    if (queuing)
      errors.forbidden(`${at}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')
  } else if (type === 'Queue') {
    if (queuing) validateQueuing(queuing, errors, `${at}.queuing`)
    else
      errors.required(`${at}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')
  } else errors.notSupported(`${at}.type`, type, ['Queue', 'Reject'])
}

const QUEUES_LIMIT = 10_000_000
/** Bits of the hash that deals hands of queues. */
const HASH_BITS = 60

function validateQueuing(
  queuing: StoredOf<QueuingConfiguration>,
  errors: FieldErrors,
  field: string,
): void {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing
  const invalid = (name: string, value: number, detail: string): void =>
    errors.invalid(`${field}.${name}`, value, detail)
  if (queueLengthLimit <= 0) invalid('queueLengthLimit', queueLengthLimit, 'must be positive')
  if (queues <= 0) invalid('queues', queues, 'must be positive')
  else if (queues > QUEUES_LIMIT)
    invalid('queues', queues, `must not be greater than ${QUEUES_LIMIT}`)
  if (handSize <= 0) invalid('handSize', handSize, 'must be positive')
  else if (handSize > queues)
    invalid('handSize', handSize, `should not be greater than queues (${queues})`)
  else if (entropyBits(queues, handSize) > HASH_BITS)
    invalid(
      'handSize',
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${HASH_BITS}`,
    )
}

/** How many bits it takes to deal a hand without order from a deck. */
function entropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize)
}

export const priorityLevelConfiguration: KindRules<PriorityLevelConfiguration> = {
  group: GROUP,
  kind: 'PriorityLevelConfiguration',
  status,
  defaults(object) {
    const spec = (object.spec ??= {})
    if (spec.exempt) {
      spec.exempt.nominalConcurrencyShares ??= 0
      spec.exempt.lendablePercent ??= 0
    }
    if (!spec.limited) return
    spec.limited.nominalConcurrencyShares ??= 30
    spec.limited.lendablePercent ??= 0
    const queuing = spec.limited.limitResponse?.queuing
    if (!queuing) return
    queuing.queues ||= 64
    queuing.handSize ||= 8
    queuing.queueLengthLimit ||= 50
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const { type = '', limited, exempt } = spec
    if ((object.metadata?.name === 'exempt') !== (type === 'Exempt'))
      errors.invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'")
    if (type === 'Exempt') {
      if (limited) errors.forbidden('spec.limited', 'must be nil if the type is not Limited')
      if (exempt) {
        validateShares(exempt, errors, 'spec.exempt')
        validateLendable(exempt, errors, 'spec.exempt')
      }
    } else if (type === 'Limited') {
      if (exempt) errors.forbidden('spec.exempt', 'must be nil if the type is Limited')
      if (limited) validateLimited(limited, errors)
      else errors.required('spec.limited', 'must not be empty when type is Limited')
    } else errors.notSupported('spec.type', type, ['Exempt', 'Limited'])
    validateMandatoryLevel(object, errors)
  },
  columns: [
    nameColumn,
    column(
      'Type',
      'string',
      '`type` indicates whether this priority level is subject to limitation on request execution.  A value of `"Exempt"` means that requests of this priority level are not subject to a limit (and thus are never queued) and do not detract from the capacity made available to other priority levels.  A value of `"Limited"` means that (a) requests of this priority level _are_ subject to limits and (b) some of the server\'s limited capacity is made available exclusively to this priority level. Required.',
      (object) => object.spec?.type ?? '',
    ),
    column(
      'NominalConcurrencyShares',
      'string',
      '`nominalConcurrencyShares` (NCS) contributes to the computation of the NominalConcurrencyLimit (NominalCL) of this level. This is the number of execution seats available at this priority level. This is used both for requests dispatched from this priority level as well as requests dispatched from other priority levels borrowing seats from this level. The server\'s concurrency limit (ServerCL) is divided among the Limited priority levels in proportion to their NCS values:\n\nNominalCL(i)  = ceil( ServerCL * NCS(i) / sum_ncs ) sum_ncs = sum[priority level k] NCS(k)\n\nBigger numbers mean a larger nominal concurrency limit, at the expense of every other priority level.\n\nIf not specified, this field defaults to a value of 30.\n\nSetting this field to zero supports the construction of a "jail" for this priority level that is used to hold some request(s)',
      (object) => text(object.spec?.limited?.nominalConcurrencyShares),
    ),
    column(
      'Queues',
      'string',
      '`queues` is the number of queues for this priority level. The queues exist independently at each apiserver. The value must be positive.  Setting it to 1 effectively precludes shufflesharding and thus makes the distinguisher method of associated flow schemas irrelevant.  This field has a default value of 64.',
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.queues),
    ),
    column(
      'HandSize',
      'string',
      "`handSize` is a small positive number that configures the shuffle sharding of requests into queues.  When enqueuing a request at this priority level the request's flow identifier (a string pair) is hashed and the hash value is used to shuffle the list of queues and deal a hand of the size specified here.  The request is put into one of the shortest queues in that hand. `handSize` must be no larger than `queues`, and should be significantly smaller (so that a few heavy flows do not saturate most of the queues).  See the user-facing documentation for more extensive guidance on setting this field.  This field has a default value of 8.",
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.handSize),
    ),
    column(
      'QueueLengthLimit',
      'string',
      '`queueLengthLimit` is the maximum number of requests allowed to be waiting in a given queue of this priority level at a time; excess requests are rejected.  This value must be positive.  If not specified, it will be defaulted to 50.',
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ],
}

function text(value: number | undefined): string | number {
  return value ?? '<none>'
}
