/** From the command line to an exit code. Contract: docs/behaviour/runtime/manager.md, Startup sequence, Shutdown and exit. */
import { hostname } from 'node:os'
import { KUBERNETES_VERSION } from '@gyropilot/api'
import { goPlatform } from '@gyropilot/client'
import {
  GyropilotError,
  SystemClock,
  SystemHost,
  SystemRandom,
  compareStrings,
  errorText,
  every,
  exposeEventLoopMetrics,
  exposeProcessMetrics,
  exposeProcessStart,
  jsonLogger,
  klogLine,
  klogLogger,
  tolerateLostOutput,
} from '@gyropilot/foundation'
import type { Logger, LoggerOptions, MetricsRegistry } from '@gyropilot/foundation'
import { runApp } from './app.ts'
import type { AppWorld, ServedPages } from './app-world.ts'
import { gateWarnings } from './options/feature-gates.ts'
import { helpText, usageOf } from './flags/help.ts'
import { parseFlags } from './flags/pflag.ts'
import { flagTexts } from './manager-pages.ts'
import {
  Options,
  compatibilityVersions,
  validate,
  validateGates,
  validateLogging,
} from './options/options.ts'
import { definitionsOf } from './program.ts'
import type { Program } from './program.ts'
import { namedCertificates, servingCertificate } from './identities/serving-certificate.ts'
import { tlsSettings } from './serving/tls-settings.ts'
import { writeCertificateFiles } from './system/certificate-files.ts'
import { startHttpsServer } from './system/https-server.ts'
import { hostFolders } from './system/host-folders.ts'
import { localTimeZone } from './system/local-time-zone.ts'
import type { ServingMaterial } from './system/https-server.ts'
import { Verbosity } from './options/verbosity.ts'
import { versionAnswer } from './version.ts'

const VERSION = `v${KUBERNETES_VERSION}`
const COMMIT = 'gyropil'
/** How often certificates and authorities are read again. */
const RELOAD_EVERY_MS = 2_000
const STAY_ALIVE_EVERY_MS = 3_600_000

/** Runs the program to its end, which is that of the process. */
export async function runProgram(program: Program, args: readonly string[]): Promise<void> {
  tolerateLostOutput(program.name)
  endWithoutLogReader()
  const options = parsed(program, args)
  if (options.flag('help')) {
    process.stdout.write(helpText(program, process.stdout.columns ?? 100))
    return
  }
  const asked = versionAnswer(
    options.isGiven('version') ? options.text('version') : '',
    VERSION,
    COMMIT,
  )
  if (asked.print !== undefined) {
    process.stdout.write(`${asked.print}\n`)
    return
  }
  orEnd(() => validateLogging(options))
  const verbosity = new Verbosity(options.number('v'), options.list('vmodule'))
  const logger = loggerFrom(options, verbosity)
  endOnPanic()
  logFlags(program, options, logger)
  const stop = stopSignal()
  try {
    validate(options, (given) => program.problemsOf(given))
    for (const { message, featureGate, value } of gateWarnings(
      options.gates(),
      compatibilityVersions(options),
    ))
      logger.info(message, { featureGate, value })
    logger.info('Starting', { version: asked.version })
    await runApp(
      program,
      options,
      worldFrom(program, options, logger, verbosity, asked.version),
      stop,
    )
  } catch (error) {
    end(error, logger)
  }
  process.exit(0)
}

/** Ends the process here when the command line cannot be read. */
function parsed(program: Program, args: readonly string[]): Options {
  try {
    const options = new Options(parseFlags(definitionsOf(program), args, program.name))
    if (options.flag('help')) return options
    validateGates(options)
    versionAnswer(options.isGiven('version') ? options.text('version') : '', VERSION, COMMIT)
    return options
  } catch (error) {
    const code = error instanceof GyropilotError ? error.code : ''
    // As cobra: only what is wrong with the command line itself is not logged.
    if (code !== 'FLAG_INVALID' && code !== 'ARGUMENT_UNEXPECTED') end(error, firstLogger())
    if (code === 'FLAG_INVALID')
      process.stderr.write(
        `${usageOf(program.name)}\nRun '${program.name} --help' for all flags.\n\n`,
      )
    process.stderr.write(`Error: ${errorText(error)}\n`)
    process.exit(1)
  }
}

/** Ends the process here when it cannot log as it is told to. */
function orEnd(check: () => void): void {
  try {
    check()
  } catch (error) {
    end(error, firstLogger())
  }
}

function end(error: unknown, logger: Logger): never {
  const code = error instanceof GyropilotError ? error.code : ''
  if (code === 'LEADER_ELECTION_TIMING_INVALID') panic(error)
  // That leadership ended was logged as it happened.
  if (code !== 'LEASE_LOST') logger.error(error, 'command failed')
  process.exit(error instanceof GyropilotError ? error.exitCode : 1)
}

function panic(error: unknown): never {
  const stack = error instanceof Error ? error.stack : undefined
  process.stderr.write(`panic: ${errorText(error)}\n\n${stack ?? ''}\n`)
  process.exit(2)
}

/** What nobody expected ends the process as a panic does in Go. */
function endOnPanic(): void {
  process.on('uncaughtException', panic)
  process.on('unhandledRejection', panic)
}

/**
 * As the signal SIGPIPE ends a program in Go. A log that cannot be written for another reason, on a disk that is full, is lost and no more:
 * the controllers go on.
 */
function endWithoutLogReader(): void {
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(2)
  })
}

function loggerFrom(options: Options, verbosity: Verbosity): Logger {
  const make = formatOf(options) === 'json' ? jsonLogger : klogLogger
  return verbosity.limit(make(outputOf(options)))
}

function formatOf(options: Options): 'json' | 'text' {
  return options.text('logging-format') === 'json' ? 'json' : 'text'
}

function outputOf(options: Options): LoggerOptions {
  const isSplit = options.flag(`log-${formatOf(options)}-split-stream`)
  return isSplit ? { ...toStderr(), writeInfo: toStdout } : toStderr()
}

/** Until the flags are known. */
function firstLogger(): Logger {
  return klogLogger(toStderr())
}

function toStdout(line: string): void {
  process.stdout.write(line)
}

function toStderr(): LoggerOptions {
  return {
    clock: new SystemClock(),
    write: (line: string) => void process.stderr.write(line),
    verbosity: Infinity,
    processId: process.pid,
    utcOffsetMinutes: (timeMs) => -new Date(timeMs).getTimezoneOffset(),
  }
}

/** In the form of upstream, where each flag is a line of text and no message with fields. */
function logFlags(program: Program, options: Options, logger: Logger): void {
  const atOne = logger.verbosity(1)
  const output = outputOf(options)
  const write = output.writeInfo ?? output.write
  const log =
    formatOf(options) === 'json'
      ? (text: string) => atOne.info(text)
      : (text: string) => write(klogLine(text, output))
  const atTwo = logger.verbosity(2)
  const definitions = definitionsOf(program)
  const texts = flagTexts(definitions, options)
  if (atOne.enabled(0)) {
    for (const { name } of definitions.toSorted((a, b) => compareStrings(a.name, b.name)))
      log(`FLAG: --${name}=${JSON.stringify(texts.get(name))}`)
  }
  for (const { name, unused } of definitions) {
    if (unused === undefined || !options.isGiven(name)) continue
    atTwo.info('Flag is accepted without effect', { flag: name, why: unused })
  }
}

/** Aborts at the first SIGTERM or SIGINT; a second one ends the process at once. Until one comes, the process lives. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  // Who waits for a signal alone is ended by Node, with exit code 13: a manager that has nothing to run is no error.
  every(new SystemClock(), STAY_ALIVE_EVERY_MS, () => {})
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1)
      controller.abort(new Error(`received ${signal}`))
    })
  }
  return controller.signal
}

function worldFrom(
  program: Program,
  options: Options,
  logger: Logger,
  verbosity: Verbosity,
  version: string,
): AppWorld {
  const world = {
    host: new SystemHost(),
    hostname: hostname(),
    localTimeZone: localTimeZone(),
    hostFolders,
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger,
    verbosity,
    platform: goPlatform(process.platform, process.arch),
    version,
    commit: COMMIT,
    runtimeVersion: process.version,
    exposeProcess(metrics: MetricsRegistry, slis: MetricsRegistry) {
      exposeProcessMetrics(metrics)
      exposeEventLoopMetrics(metrics)
      exposeProcessStart(slis, 'ALPHA')
    },
  }
  return {
    ...world,
    async serve(pages) {
      const close = await serve({ pairName: program.name, prefix: '' }, options, world, pages)
      if (program.servesWebhooks?.(options) !== true) return close
      const webhooks = { pairName: `${program.name}-webhook`, prefix: 'webhook-' } as const
      const closeWebhooks = await serve(webhooks, options, world, NO_WEBHOOKS)
      return () => {
        close()
        closeWebhooks()
      }
    },
  }
}

/** A port, and what its flags begin with. */
interface Port {
  readonly pairName: string
  readonly prefix: '' | 'webhook-'
}

/** There is nothing to be called. */
const NO_WEBHOOKS: ServedPages = {
  answer: async () => ({
    status: 404,
    contentType: 'text/plain; charset=utf-8',
    body: '404 page not found\n',
  }),
  authorities: async () => '',
}

async function serve(
  { pairName, prefix }: Port,
  options: Options,
  { host, clock, random, logger }: Omit<AppWorld, 'serve'>,
  { answer, authorities }: ServedPages,
): Promise<() => void> {
  const isMain = prefix === ''
  const bindAddress = options.text(`${prefix}bind-address`)
  const certificate = await servingCertificate({
    certFile: options.text(`${prefix}tls-cert-file`),
    keyFile: options.text(`${prefix}tls-private-key-file`),
    certDir: options.text(`${prefix}cert-dir`),
    pairName,
    bindAddress,
    host,
    clock,
    random,
    write: writeCertificateFiles,
  })
  const named = isMain ? options.list('tls-sni-cert-key') : []
  let material: ServingMaterial = {
    certificate: certificate.pair,
    named: await namedCertificates(host, named),
    authoritiesPem: await authorities(),
  }
  const server = await startHttpsServer({
    host: bindAddress,
    port: options.number(`${prefix}secure-port`),
    tls: tlsSettings(options, prefix),
    material,
    allowHttp2: !options.flag(`${prefix}disable-http2-serving`),
    maxStreams: isMain ? options.number('http2-max-streams-per-connection') : 0,
    answer,
    onFault: (error, asked) => logger.error(error, 'A request could not be answered', asked),
  })
  logger.info(isMain ? 'Serving securely' : 'Serving webhooks', {
    address: bindAddress,
    port: server.port,
  })
  const keeping = <T>(former: T, error: unknown): T => {
    logger.error(error, 'Keeping the former certificates')
    return former
  }
  // One that cannot be read holds back none of the others.
  const reload = async (): Promise<void> => {
    const former = material
    const now = {
      certificate: await certificate
        .reload()
        .catch((error: unknown) => keeping(former.certificate, error)),
      named: await namedCertificates(host, named, (place, error) =>
        keeping(former.named[place]!, error),
      ),
      authoritiesPem: await authorities(),
    }
    if (JSON.stringify(now) === JSON.stringify(material)) return
    server.replace(now)
    material = now
    logger.info('Serving with changed certificates')
  }
  const reloading = every(clock, RELOAD_EVERY_MS, () => {
    reload().catch((error: unknown) => logger.error(error, 'Keeping the former certificates'))
  })
  return () => {
    reloading.cancel()
    server.close()
  }
}
