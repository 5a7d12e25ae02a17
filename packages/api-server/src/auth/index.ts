export { createAuthentication } from './authentication.ts'
export type { Authentication } from './authentication.ts'
export { DEFAULT_AUTHORIZATION_MODES } from './authorization-modes.ts'
export type { AuthorizationMode } from './authorization-modes.ts'
export { createAuthorizer } from './authorizer.ts'
export type { RbacAuthorizer } from './authorizer.ts'
export { forbiddenRequest } from './forbidden.ts'
export {
  ANONYMOUS,
  SERVER_IDENTITY,
  serviceAccountGroups,
  serviceAccountUserName,
} from './identity.ts'
export { Impersonation } from './impersonation.ts'
export { LAST_USED, ServiceAccountTokens } from './service-account-tokens.ts'
