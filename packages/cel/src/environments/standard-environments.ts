/** The functions that rules and policies may call. */
import { Environment } from './environment.ts'
import { AUTHORIZER } from '../libraries/authorizer.ts'
import { CONVERSIONS } from '../libraries/conversions.ts'
import { JSON_PATCH } from '../libraries/json-patch.ts'
import { LISTS, SETS } from '../libraries/lists.ts'
import { NAMED_FORMATS } from '../libraries/named-formats.ts'
import { NETWORK } from '../libraries/network.ts'
import { OPERATORS } from '../libraries/operators.ts'
import { OPTIONALS } from '../libraries/optionals.ts'
import { QUANTITIES } from '../libraries/quantity.ts'
import { REGEX } from '../libraries/regex.ts'
import { SEMVER } from '../libraries/semver.ts'
import { STRINGS } from '../libraries/strings.ts'
import { TIME } from '../libraries/time.ts'
import { URLS } from '../libraries/url.ts'

const COMMON = [
  OPERATORS,
  CONVERSIONS,
  TIME,
  STRINGS,
  LISTS,
  SETS,
  REGEX,
  URLS,
  QUANTITIES,
  NETWORK,
  NAMED_FORMATS,
  SEMVER,
  OPTIONALS,
]

/** What rules of custom resources may use. The authorizer's functions are known, but nothing they could be called on. */
export const RULES_ENVIRONMENT = Environment.of([...COMMON, AUTHORIZER])
/** What patching policies may use besides. */
export const POLICY_ENVIRONMENT = Environment.of([...COMMON, AUTHORIZER, JSON_PATCH])
