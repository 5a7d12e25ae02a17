/** The pages of the HTTPS port with those who may see them, from options. Contract: docs/behaviour/runtime/manager.md, Serving. */
import { inClusterConfig, loadManagerConfig } from '@gyropilot/client'
import type { Client, RestConfig } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { AppWorld, ServedPages } from './app-world.ts'
import type { ClientRate } from './identities/client-builder.ts'
import { managerErrors } from './errors.ts'
import { flagValueText } from './flags/pflag.ts'
import type { FlagDefinition } from './flags/pflag.ts'
import type { LeaderMigration } from './election/leader-migration.ts'
import { compatibilityVersions } from './options/options.ts'
import type { Options } from './options/options.ts'
import { definitionsOf } from './program.ts'
import type { Program } from './program.ts'
import { AuthMetrics } from './serving/auth-metrics.ts'
import { Authentication } from './serving/authentication.ts'
import {
  FollowedAuthenticationSettings,
  KEEPING_FORMER_SETTINGS,
} from './serving/authentication-settings.ts'
import { Authorization } from './serving/authorization.ts'
import { DelegatedAuth } from './serving/delegated-auth.ts'
import type { HealthChecks } from './serving/health.ts'
import { router } from './serving/routes.ts'
import type { DebugHandler } from './serving/routes.ts'

/** Reviews must not wait for the controllers' requests. */
const REVIEW_RATE: ClientRate = { qps: 200, burst: 400 }

interface ManagerPagesOptions {
  readonly program: Program
  readonly options: Options
  readonly world: AppWorld
  readonly migration: LeaderMigration | undefined
  readonly health: HealthChecks
  readonly metrics: MetricsRegistry
  readonly slis: MetricsRegistry
  readonly debugHandlers: ReadonlyMap<string, DebugHandler>
  client(config: RestConfig, rate: ClientRate): Client
}

/** Follows authentication settings of the cluster until `signal` aborts. */
export async function managerPages(
  given: ManagerPagesOptions,
  signal: AbortSignal,
): Promise<ServedPages> {
  const { options, world } = given
  const { clock, host, logger } = world
  const random = world.random.fork('serving')
  const authenticationClient = await reviewClient(given, 'authentication')
  const authorizationClient = await reviewClient(given, 'authorization')
  const settings = await FollowedAuthenticationSettings.load({
    options,
    host,
    ...(authenticationClient === undefined ? {} : { client: authenticationClient }),
    clock,
    random,
    logger: logger.named('authentication-settings'),
  })
  settings
    .follow(signal)
    .catch((error: unknown) => logger.error(error, 'Cannot follow authentication settings'))
  const metrics = new AuthMetrics(clock, given.metrics)
  const authentication = new Authentication({
    metrics,
    clock,
    random,
    settings: () => settings.current,
    ...(authenticationClient === undefined ? {} : { client: authenticationClient }),
    tokenCacheMs: options.number('authentication-token-webhook-cache-ttl'),
  })
  const authorization = new Authorization({
    metrics,
    clock,
    random,
    ...(authorizationClient === undefined ? {} : { client: authorizationClient }),
    authorizedCacheMs: options.number('authorization-webhook-cache-authorized-ttl'),
    unauthorizedCacheMs: options.number('authorization-webhook-cache-unauthorized-ttl'),
    alwaysAllowPaths: options.list('authorization-always-allow-paths'),
  })
  return {
    answer: routerOf(given, new DelegatedAuth(authentication, authorization, metrics)),
    async authorities() {
      await settings
        .refresh()
        .catch((error: unknown) => logger.error(error, KEEPING_FORMER_SETTINGS))
      return settings.authoritiesPem
    },
  }
}

function routerOf(given: ManagerPagesOptions, auth: DelegatedAuth): ServedPages['answer'] {
  const { program, options, world, migration, health, metrics, slis, debugHandlers } = given
  const { clock, version, runtimeVersion, verbosity } = world
  const startedMs = clock.nowMs()
  return router({
    auth,
    component: program.name,
    configurationGroup: program.configurationGroup,
    startedMs,
    servesProbes: program.servesProbes,
    endsUnknown: options.isGateOn('UnauthenticatedHTTP2DOSMitigation'),
    health,
    metrics,
    slis,
    configz: () => program.componentConfiguration(options, migration),
    ...(options.isGateOn('ComponentFlagz')
      ? { flagz: () => flagTexts(definitionsOf(program), options) }
      : {}),
    ...(options.isGateOn('ComponentStatusz')
      ? {
          statusz: () => ({
            startedMs,
            nowMs: clock.nowMs(),
            runtimeVersion,
            version: version.replace(/^v/, ''),
            emulatedVersion: compatibilityVersions(options).emulation,
          }),
        }
      : {}),
    ...(options.flag('profiling')
      ? {
          debug: {
            setVerbosity: (level: number) => verbosity.set(level),
            controllers: debugHandlers,
          },
        }
      : {}),
  })
}

/** What Go would print for each flag. */
export function flagTexts(
  definitions: readonly FlagDefinition[],
  options: Options,
): ReadonlyMap<string, string> {
  return new Map(
    definitions.map((flag) => [flag.name, flagValueText(flag, options.values.get(flag.name)!)]),
  )
}

/** Of the kubeconfig given, else of the pod; undefined where there is neither. */
async function reviewClient(
  { options, world, client }: ManagerPagesOptions,
  purpose: 'authentication' | 'authorization',
): Promise<Client | undefined> {
  const { host, logger } = world
  const kubeconfig = options.text(`${purpose}-kubeconfig`)
  if (kubeconfig !== '') {
    try {
      const config = await loadManagerConfig({ kubeconfig }, host, logger)
      return client(config, REVIEW_RATE)
    } catch (error) {
      const message = `failed to get delegated ${purpose} kubeconfig: ${errorText(error)}`
      throw managerErrors.make('OPTIONS_INVALID', message, { cause: error })
    }
  }
  try {
    const config = await inClusterConfig(host, logger)
    return client(config, REVIEW_RATE)
  } catch {
    logger.info(`No ${purpose}-kubeconfig provided, so ${WITHOUT[purpose]}`)
    return undefined
  }
}

const WITHOUT = {
  authentication: 'requests without a client certificate that is known by flags are anonymous.',
  authorization: 'only --authorization-always-allow-paths are served.',
} as const
