/**
 * Questions that are answered and forgotten: who is this, may they do that.
 * Contract: docs/behaviour/api-server/requests.md, "Reviews".
 */
import { aggregateText, formatTime } from '@gyropilot/foundation'
import type { Authentication, RbacAuthorizer } from '../auth/index.ts'
import { userInfoBody, withAuthenticatedGroup } from '../auth/identity.ts'
import type {
  RequestAttributes,
  SubresourceCall,
  SubresourceHandler,
  UserInfo,
} from '../contracts.ts'
import { badRequest, invalid } from '../http/errors.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { created } from './answers.ts'
import { askedSelectors, checkSelectors } from './review-selectors.ts'

const AUTHORIZATION = 'authorization.k8s.io'
const AUTHENTICATION = 'authentication.k8s.io'

export interface ReviewParts {
  readonly authentication: Authentication
  readonly authorizer: RbacAuthorizer
}

export function reviews({ authentication, authorizer }: ReviewParts): SubresourceHandler[] {
  return [
    review(AUTHENTICATION, 'tokenreviews', {
      check: checkToken,
      status: (call) => tokenStatus(authentication, call),
    }),
    review(AUTHENTICATION, 'selfsubjectreviews', {
      status(call) {
        call.body!['metadata'] = { creationTimestamp: formatTime(call.nowMs) }
        return { userInfo: userInfoBody(call.user) }
      },
    }),
    review(AUTHORIZATION, 'subjectaccessreviews', {
      check({ body }) {
        const errors = new FieldErrors()
        checkAttributes(body!['spec'] ?? {}, errors)
        checkSubject(body!['spec'] ?? {}, errors)
        checkSelectors(body!['spec'] ?? {}, errors)
        checkMetadata(body!, 'must be empty', errors)
        refuse(errors)
      },
      status: ({ body }) => accessStatus(authorizer, body!['spec'], subjectOfReview(body!['spec'])),
    }),
    review(AUTHORIZATION, 'localsubjectaccessreviews', {
      check: checkLocal,
      status({ body, namespace }) {
        body!['metadata'] = { namespace, ...body!['metadata'] }
        return accessStatus(authorizer, body!['spec'], subjectOfReview(body!['spec']))
      },
    }),
    review(AUTHORIZATION, 'selfsubjectaccessreviews', {
      check({ body }) {
        const errors = new FieldErrors()
        checkAttributes(body!['spec'] ?? {}, errors)
        checkSelectors(body!['spec'] ?? {}, errors)
        checkMetadata(body!, 'must be empty', errors)
        refuse(errors)
      },
      status: ({ body, user }) => accessStatus(authorizer, body!['spec'], user),
    }),
    review(AUTHORIZATION, 'selfsubjectrulesreviews', {
      check: checkNamespaceAsked,
      status(call) {
        call.body!['metadata'] = {}
        return rulesStatus(authorizer, call)
      },
    }),
  ]
}

interface Review {
  /** Before those are asked who judge. */
  check?(call: SubresourceCall): void
  status(call: SubresourceCall): unknown
}

function review(group: string, resource: string, { check, status }: Review): SubresourceHandler {
  return {
    group,
    resource,
    subresource: '',
    methods: ['POST'],
    check(call) {
      const metadata: Draft = (call.body!['metadata'] ??= {})
      // What belongs to no namespace is asked in none, whatever is named.
      if (call.namespace === '') delete metadata['namespace']
      check?.(call)
    },
    async handle(call) {
      const body = call.body!
      const answer = status(call)
      return created({ ...body, status: answer })
    },
  }
}

function checkToken({ body }: SubresourceCall): void {
  if (!body!['spec']?.token) throw badRequest('token is required for TokenReview in authentication')
}

function checkNamespaceAsked({ body }: SubresourceCall): void {
  if (!body!['spec']?.namespace) throw badRequest('no namespace on request')
}

/** What a client says of the status stays where nothing is found out. */
function tokenStatus(authentication: Authentication, call: SubresourceCall): unknown {
  const { spec, status = {} } = call.body!
  const { token = '', audiences } = spec ?? {}
  const asked: readonly string[] | undefined = audiences?.length > 0 ? audiences : undefined
  const judged = authentication.judgeToken(token, asked)
  if ('refused' in judged) {
    const error = 'invalid bearer token'
    const { refused } = judged
    return { user: {}, ...status, error: refused === '' ? error : `[${error}, ${refused}]` }
  }
  return {
    ...status,
    authenticated: true,
    user: userInfoBody(judged.user),
    audiences: judged.audiences,
  }
}

function checkAttributes(
  { resourceAttributes, nonResourceAttributes }: Draft,
  errors: FieldErrors,
): void {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.invalid(
      'spec.nonResourceAttributes',
      printed(nonResourceAttributes),
      'cannot be specified in combination with resourceAttributes',
    )
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.invalid(
      'spec.resourceAttributes',
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    )
  }
}

function checkSubject({ user = '', groups = [] }: Draft, errors: FieldErrors): void {
  if (user === '' && groups.length === 0)
    errors.invalid('spec.user', user, 'at least one of user or group must be specified')
}

/** Messages show the server's own form of the attributes. */
const printed = ({ path = '', verb = '' }: Draft): Draft => ({ Path: path, Verb: verb })

/** A review is no object that could have a name; only a local one is in a namespace. */
function checkMetadata(body: Draft, why: string, errors: FieldErrors): void {
  const { managedFields: _, namespace: _namespace, ...rest } = body['metadata'] ?? {}
  if (Object.keys(rest).length > 0) errors.invalid('metadata', body['metadata'], why)
}

function checkLocal(call: SubresourceCall): void {
  const spec = call.body!['spec'] ?? {}
  const errors = new FieldErrors()
  checkAttributes(spec, errors)
  checkSubject(spec, errors)
  checkSelectors(spec, errors)
  checkMetadata(call.body!, 'must be empty except for namespace', errors)
  if (
    spec.resourceAttributes !== undefined &&
    (spec.resourceAttributes.namespace ?? '') !== call.namespace
  ) {
    errors.invalid(
      'spec.resourceAttributes.namespace',
      spec.resourceAttributes.namespace ?? '',
      'must match metadata.namespace',
    )
  }
  if (spec.nonResourceAttributes !== undefined) {
    errors.invalid(
      'spec.nonResourceAttributes',
      printed(spec.nonResourceAttributes),
      'disallowed on this kind of request',
    )
  }
  refuse(errors)
  if (call.namespace === '') throw badRequest('namespace is required on this type: ')
}

/** These kinds print no name of their own in the message. */
function refuse(errors: FieldErrors): void {
  if (errors.list.length > 0) throw invalid(AUTHORIZATION, '', '', errors.list)
}

function subjectOfReview({ user = '', groups = [], uid, extra = {} }: Draft): UserInfo {
  return { name: user, groups, extra, ...(uid ? { uid } : {}) }
}

function accessStatus(authorizer: RbacAuthorizer, spec: Draft, user: UserInfo): unknown {
  const { problems, ...selectors } = askedSelectors(spec['resourceAttributes'] ?? {})
  const { allowed, reason } = authorizer.authorize({ ...attributesOf(spec, user), ...selectors })
  return {
    allowed,
    ...(reason === '' ? {} : { reason }),
    ...(problems.length === 0 ? {} : { evaluationError: problems.join('; ') }),
  }
}

function attributesOf(
  { resourceAttributes, nonResourceAttributes }: Draft,
  user: UserInfo,
): RequestAttributes {
  const none = {
    user,
    group: '',
    version: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
  }
  if (nonResourceAttributes !== undefined) {
    const { path = '', verb = '' } = nonResourceAttributes
    return { ...none, verb, path, isResourceRequest: false }
  }
  const {
    namespace = '',
    verb = '',
    group = '',
    version = '',
    resource = '',
    subresource = '',
    name = '',
  } = resourceAttributes
  return {
    ...none,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    isResourceRequest: true,
  }
}

function rulesStatus(authorizer: RbacAuthorizer, call: SubresourceCall): unknown {
  const { namespace } = call.body!['spec'] as { readonly namespace: string }
  call.body!['spec'] = {}
  const user = withAuthenticatedGroup(call.user)
  const { rules, errors, isIncomplete } = authorizer.listedRules(user, namespace)
  const resourceRules = rules.filter((rule) => (rule.resources ?? []).length > 0)
  const nonResourceRules = rules.filter((rule) => (rule.nonResourceURLs ?? []).length > 0)
  return {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    })),
    nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
      verbs,
      nonResourceURLs,
    })),
    incomplete: isIncomplete,
    ...(errors.length === 0 ? {} : { evaluationError: aggregateText(errors) }),
  }
}
