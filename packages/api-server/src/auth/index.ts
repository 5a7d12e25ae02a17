export { createAuthentication, unauthorized } from './authentication.ts'
export type { Authentication, AuthenticationOptions } from './authentication.ts'
export { DEFAULT_AUTHORIZATION_MODES } from './authorization-modes.ts'
export type { AuthorizationMode } from './authorization-modes.ts'
export { createAuthorizer } from './authorizer.ts'
export type { Decision, RbacAuthorizer, ResolvedRules } from './authorizer.ts'
export { forbidden, forbiddenRequest } from './forbidden.ts'
export {
  ANONYMOUS,
  GROUP,
  SERVER_IDENTITY,
  serviceAccountGroups,
  serviceAccountUserName,
} from './identity.ts'
export { impersonate } from './impersonation.ts'
export { DEFAULT_ISSUER, LAST_USED, ServiceAccountTokens } from './service-account-tokens.ts'
export type { ServiceAccountTokensOptions, TokenGrant } from './service-account-tokens.ts'
