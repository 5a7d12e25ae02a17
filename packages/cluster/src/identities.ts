/** Who the parts of a cluster are to its API server: each has its own bearer token, valid in this process only. */
import type { UserInfo } from '@gyropilot/api-server'
import { integerBetween } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'

const TOKEN_LENGTH = 40
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

export class Identities {
  /** Handed to the API server, which looks tokens up here: identities added later are known at once. */
  readonly tokens = new Map<string, UserInfo>()
  readonly #random: RandomSource
  readonly #tokenOf = new Map<string, string>()

  constructor(random: RandomSource) {
    this.#random = random
  }

  /** The token of a user; made at the first call. */
  tokenOf(user: UserInfo): string {
    const known = this.#tokenOf.get(user.name)
    if (known !== undefined) return known
    const token = randomToken(this.#random)
    this.#tokenOf.set(user.name, token)
    this.tokens.set(token, user)
    return token
  }
}

/** A bearer token, in characters that need no quoting. */
export function randomToken(random: RandomSource): string {
  let token = ''
  while (token.length < TOKEN_LENGTH) token += ALPHABET[integerBetween(random, 0, ALPHABET.length)]
  return token
}

const AUTHENTICATED = 'system:authenticated'

/** Of the administrator's token, as an entry of a static token file has it: name, uid, groups. */
export const ADMINISTRATOR: UserInfo = {
  name: 'admin',
  uid: 'admin-uid',
  groups: ['system:masters', AUTHENTICATED],
  extra: {},
}
export const CONTROLLER_MANAGER = systemUser('system:kube-controller-manager')
export const SCHEDULER = systemUser('system:kube-scheduler')

function systemUser(name: string): UserInfo {
  return { name, groups: [AUTHENTICATED], extra: {} }
}

/** A service account of kube-system, as a controller with its own credentials has it. */
export function controllerAccount(name: string): UserInfo {
  return {
    name: `system:serviceaccount:kube-system:${name}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', AUTHENTICATED],
    extra: {},
  }
}
