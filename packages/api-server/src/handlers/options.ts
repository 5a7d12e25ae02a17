/** Query options: decoding (400) and validation (422). Contract: docs/behaviour/api-server/requests.md, "Query parameters". */
import {
  FieldQuery,
  InvalidSelectorError,
  LabelQuery,
  parseFieldQuery,
  parseLabelQuery,
} from '@gyropilot/api'
import { goQuote } from '@gyropilot/schema/go-quote'
import { parseInteger } from '../http/query-numbers.ts'
import { badRequest, invalid } from '../http/errors.ts'
import { isTrue, isWatch } from '../http/request-info.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateFieldManager } from '@gyropilot/schema/validation/metadata'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  readonly dryRun: boolean
  /** Empty when the request names none. */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly force: boolean | undefined
}

export interface DeleteOptions {
  readonly dryRun: boolean
  readonly gracePeriodSeconds: number | undefined
  readonly propagationPolicy: string | undefined
  readonly orphanDependents: boolean | undefined
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined
}

export interface ListOptions {
  /** Judged as those of a watch: below `/watch/` only what `?watch` names one is. */
  readonly watch: boolean
  readonly labels: LabelQuery
  readonly fields: FieldQuery
  /** 0: no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
}

const GROUP = 'meta.k8s.io'

export function writeOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  applyPatch = false,
): WriteOptions {
  if (query.size === 0 && !applyPatch) return DEFAULTS
  const errors = new FieldErrors()
  const force = query.get('force')
  const forced = force === null ? undefined : isTrue(force)
  const fieldManager = query.get('fieldManager') ?? ''
  if (kind === 'PatchOptions') {
    if (applyPatch && fieldManager === '')
      errors.required('fieldManager', 'is required for apply patch')
    if (!applyPatch && forced !== undefined)
      errors.forbidden('force', 'may not be specified for non-apply patch')
  }
  validateFieldManager(fieldManager, errors, 'fieldManager')
  validateDryRun(query.getAll('dryRun'), errors)
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])
  }
  if (errors.list.length > 0) throw invalid(GROUP, kind, '', errors.list)
  return {
    dryRun: query.has('dryRun'),
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: forced,
  }
}

const DEFAULTS: WriteOptions = {
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: undefined,
}

function validateDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== 'All')) errors.notSupported('dryRun', values, ['All'])
}

/** From the query string, when the request has no body. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptions {
  if (query.size === 0) return validDeleteOptions({}, [])
  const grace = query.get('gracePeriodSeconds')
  const orphan = query.get('orphanDependents')
  return validDeleteOptions(
    {
      gracePeriodSeconds: grace === null ? undefined : parseInteger(grace),
      propagationPolicy: query.get('propagationPolicy') ?? undefined,
      orphanDependents: orphan === null ? undefined : isTrue(orphan),
      preconditions: preconditionsOf(query),
    },
    query.getAll('dryRun'),
  )
}

/** `uid` and `resourceVersion`, also where the latter is the version of a list to be deleted. */
function preconditionsOf(query: URLSearchParams): DeleteOptions['preconditions'] {
  const uid = query.get('uid')
  const resourceVersion = query.get('resourceVersion')
  if (!uid && !resourceVersion) return undefined
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
}

/** From a decoded DeleteOptions body. */
export function deleteOptionsFromBody(body: Readonly<Record<string, unknown>>): DeleteOptions {
  const dryRun = Array.isArray(body['dryRun']) ? body['dryRun'].map(String) : []
  return validDeleteOptions(body, dryRun)
}

function validDeleteOptions(
  raw: Readonly<Record<string, unknown>>,
  dryRun: readonly string[],
): DeleteOptions {
  const errors = new FieldErrors()
  const policy = raw['propagationPolicy'] as string | undefined | null
  const orphanDependents = (raw['orphanDependents'] ?? undefined) as boolean | undefined
  if (policy !== undefined && policy !== null && orphanDependents !== undefined) {
    errors.invalid(
      'propagationPolicy',
      policy,
      'orphanDependents and deletionPropagation cannot be both set',
    )
  }
  if (
    policy !== undefined &&
    policy !== null &&
    !['Foreground', 'Background', 'Orphan'].includes(policy)
  ) {
    errors.notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil'])
  }
  validateDryRun(dryRun, errors)
  if (errors.list.length > 0) throw invalid(GROUP, 'DeleteOptions', '', errors.list)
  const grace = raw['gracePeriodSeconds'] as number | undefined | null
  return {
    dryRun: dryRun.length > 0,
    // A negative period counts as one second.
    gracePeriodSeconds: grace === undefined || grace === null ? undefined : grace < 0 ? 1 : grace,
    propagationPolicy: policy ?? undefined,
    orphanDependents,
    preconditions: (raw['preconditions'] ?? undefined) as DeleteOptions['preconditions'],
  }
}

/** Numbers and selectors are read (400) before anything is judged (422); which fields a kind has is judged later. */
export function listOptions(query: URLSearchParams, watch: boolean): ListOptions {
  if (query.size === 0) return NO_LIST_OPTIONS
  const initial = query.get('sendInitialEvents')
  const options: ListOptions = {
    watch: watch && isWatch(query),
    ...numbersOf(query),
    ...selectorsOf(query),
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    allowWatchBookmarks:
      query.has('allowWatchBookmarks') && isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
  }
  const errors = new FieldErrors()
  if (options.watch) validateWatch(options, errors)
  else validateList(options, errors)
  if (errors.list.length > 0) throw invalid(GROUP, 'ListOptions', '', errors.list)
  return options
}

function numbersOf(query: URLSearchParams): Pick<ListOptions, 'limit' | 'timeoutSeconds'> {
  const timeout = query.get('timeoutSeconds')
  const timeoutSeconds = timeout === null ? undefined : parseInteger(timeout)
  const limit = query.get('limit')
  return { timeoutSeconds, limit: limit === null ? 0 : Math.max(0, parseInteger(limit)) }
}

function selectorsOf(query: URLSearchParams): Pick<ListOptions, 'labels' | 'fields'> {
  try {
    const labels = parseLabelQuery(query.get('labelSelector') ?? '')
    return { labels, fields: parseFieldQuery(query.get('fieldSelector') ?? '') }
  } catch (error) {
    if (error instanceof InvalidSelectorError) throw badRequest(error.message)
    throw error
  }
}

const NO_LIST_OPTIONS: ListOptions = {
  watch: false,
  labels: LabelQuery.everything,
  fields: FieldQuery.everything,
  limit: 0,
  continueToken: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
  timeoutSeconds: undefined,
}

function validateList(options: ListOptions, errors: FieldErrors): void {
  judgeMatch(options, errors)
  if (options.sendInitialEvents !== undefined)
    errors.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')
}

function judgeMatch(options: ListOptions, errors: FieldErrors): void {
  const { resourceVersion, resourceVersionMatch: match } = options
  if (match === '') return
  if (resourceVersion === '') {
    errors.forbidden(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    )
  }
  if (options.continueToken !== '') {
    errors.forbidden(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden when continue is provided',
    )
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', ''])
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.forbidden(
      'resourceVersionMatch',
      'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    )
  }
}

function validateWatch(options: ListOptions, errors: FieldErrors): void {
  const { resourceVersionMatch: match, sendInitialEvents } = options
  // Without an explicit choice these two mean: the present state first, then changes.
  const implied =
    sendInitialEvents === undefined &&
    match === '' &&
    (options.resourceVersion === '' || options.resourceVersion === '0')
  if (implied) {
    if (options.continueToken !== '') {
      errors.forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden when continue is provided',
      )
    }
    return
  }
  const fits = match === 'NotOlderThan'
  if (sendInitialEvents !== undefined && !fits) {
    errors.forbidden(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    )
  }
  if (match === '') return
  if (sendInitialEvents === undefined) {
    errors.forbidden(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    )
  }
  if (!fits) errors.notSupported('resourceVersionMatch', match, ['NotOlderThan'])
  if (options.continueToken !== '') {
    errors.forbidden(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden when continue is provided',
    )
  }
}

/** Go's strconv.ParseUint, base 10: a message when it does not parse. Beyond 2^53 it is the nearest number; no revision comes so far. */
export function parseVersion(text: string): number | { readonly error: string } {
  if (!/^[0-9]+$/.test(text))
    return { error: `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax` }
  const value = Number(text)
  if (!Number.isSafeInteger(value) && BigInt(text) >= 1n << 64n)
    return { error: `strconv.ParseUint: parsing ${goQuote(text)}: value out of range` }
  return value
}
