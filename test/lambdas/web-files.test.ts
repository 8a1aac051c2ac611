import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DeleteObjectsCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Client } from '#adapters/aws/s3-object-store.ts';
import { WebFiles } from '#adapters/aws/web-files.ts';
import { customResource } from '#runtime/custom-resource.ts';
import { createLogger } from '#runtime/log.ts';

/** Upload of the dashboard by CloudFormation's custom resource. */

const s3 = mockClient(S3Client);
let folder: string;
let cloudFormation: Server;
let reports: { method: string | undefined; type: string | undefined; body: any }[];
let statuses: number[];

beforeEach(async () => {
  s3.reset();
  s3.on(PutObjectCommand).resolves({});
  folder = mkdtempSync(join(tmpdir(), 'touchstone-web-files-'));
  for (const file of [
    'index.html',
    'favicon.svg',
    'assets/index-4f2a.js',
    'assets/font-9b.woff2',
    '.vite/manifest.json',
  ]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file);
  }
  reports = [];
  statuses = [];
  cloudFormation = createServer(async (request, response) => {
    const body = await text(request);
    const { method, headers } = request;
    reports.push({
      method,
      type: headers['content-type'],
      body: JSON.parse(body),
    });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await new Promise<void>((listening) => cloudFormation.listen(0, '127.0.0.1', listening));
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
  await new Promise((closed) => cloudFormation.close(closed));
});

const CONFIG = '{"stage":"dev"}';
const files = () => new WebFiles(createS3Client(), 'files');
const resource = () =>
  customResource(
    {
      put: async ({ bucket }) => `${bucket}/${await files().deploy(folder, CONFIG)}`,
      remove: () => files().empty(),
    },
    createLogger('web-files', 'ERROR'),
  );

const event = (more: object): CloudFormationCustomResourceEvent =>
  ({
    RequestType: 'Create',
    ServiceToken: 'arn:aws:lambda:us-east-1:123456789012:function:web-files:live',
    ResponseURL: `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}/report?signed=1`,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'WebUpload',
    ResourceType: 'Custom::DashboardFiles',
    ResourceProperties: { ServiceToken: '', bucket: 'files' },
    ...more,
  }) as CloudFormationCustomResourceEvent;

const puts = () => s3.commandCalls(PutObjectCommand).map(({ args: [{ input }] }) => input);

describe('files', () => {
  test('hashed files are uploaded first and forever, the entry page last, the configuration before it', async () => {
    await resource()(event({}));
    expect(puts().map(({ Key, CacheControl, ContentType }) => [Key, CacheControl, ContentType])).toEqual([
      ['assets/font-9b.woff2', 'public, max-age=31536000, immutable', 'font/woff2'],
      ['assets/index-4f2a.js', 'public, max-age=31536000, immutable', 'text/javascript; charset=utf-8'],
      ['favicon.svg', 'no-cache', 'image/svg+xml; charset=utf-8'],
      ['config.json', 'no-cache', 'application/json'],
      ['index.html', 'no-cache', 'text/html; charset=utf-8'],
    ]);
    expect(puts().map(({ Bucket }) => new Set([Bucket]))).toEqual(Array(5).fill(new Set(['files'])));
    expect(puts()[3]!.Body).toBe(CONFIG);
    expect(s3.commandCalls(DeleteObjectsCommand)).toEqual([]);
    expect(reports).toEqual([
      {
        method: 'PUT',
        // The signed address allows no content type.
        type: undefined,
        body: {
          StackId: 'stack',
          RequestId: 'request',
          LogicalResourceId: 'WebUpload',
          Status: 'SUCCESS',
          PhysicalResourceId: 'files/5',
        },
      },
    ]);
  });

  test('next group waits for every upload of the one before', async () => {
    let uploaded = 0;
    s3.on(PutObjectCommand).callsFake(async ({ Key }) => {
      if (Key === 'index.html') expect(uploaded).toBe(4);
      if (Key === 'favicon.svg') expect(uploaded).toBe(2);
      await new Promise((turn) => setImmediate(turn));
      uploaded++;
      return {};
    });
    await resource()(event({}));
    expect(uploaded).toBe(5);
    expect(reports[0]!.body.Status).toBe('SUCCESS');
  });

  test('failed upload leaves the earlier entry page and fails the deployment with its reason', async () => {
    s3.on(PutObjectCommand, { Key: 'assets/index-4f2a.js' }).rejects(new Error('Access Denied'));
    await resource()(event({ RequestType: 'Update', PhysicalResourceId: 'files/4' }));
    expect(puts().map(({ Key }) => Key)).not.toContain('index.html');
    expect(reports).toHaveLength(1);
    expect(reports[0]!.body).toMatchObject({
      Status: 'FAILED',
      PhysicalResourceId: 'files/4',
      Reason: expect.stringContaining('Access Denied'),
    });
  });

  test('function without a build fails before it uploads anything', async () => {
    rmSync(join(folder, 'index.html'));
    await resource()(event({}));
    expect(puts()).toEqual([]);
    expect(reports[0]!.body).toMatchObject({
      Status: 'FAILED',
      Reason: 'The build has no index.html: run npm run build',
    });
  });

  test('deletion empties the bucket, page by page', async () => {
    s3.on(ListObjectsV2Command)
      .resolvesOnce({ Contents: [{ Key: 'a' }, { Key: 'b' }], IsTruncated: true, NextContinuationToken: '2' })
      .resolves({ Contents: [{ Key: 'c' }] });
    s3.on(DeleteObjectsCommand).resolves({});
    await resource()(event({ RequestType: 'Delete', PhysicalResourceId: 'files/5' }));
    const deleted = s3
      .commandCalls(DeleteObjectsCommand)
      .map(({ args: [{ input }] }) => input.Delete!.Objects!.map(({ Key }) => Key));
    expect(deleted).toEqual([['a', 'b'], ['c']]);
    expect(reports[0]!.body).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'files/5' });
  });

  test('file that cannot be deleted fails the deletion', async () => {
    s3.on(ListObjectsV2Command).resolves({ Contents: [{ Key: 'a' }] });
    s3.on(DeleteObjectsCommand).resolves({ Errors: [{ Key: 'a', Message: 'Access Denied' }] });
    await resource()(event({ RequestType: 'Delete', PhysicalResourceId: 'files/5' }));
    expect(reports[0]!.body).toMatchObject({ Status: 'FAILED', Reason: 'a was not deleted: Access Denied' });
  });
});

describe('report to CloudFormation', () => {
  test('rejected report is repeated', async () => {
    statuses = [503, 500];
    await resource()(event({}));
    expect(reports.map(({ body }) => body.Status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
  });

  test('report that is rejected three times fails the call, so that Lambda repeats it', async () => {
    statuses = [503, 503, 503];
    await expect(resource()(event({}))).rejects.toThrow('CloudFormation responded 503');
  });
});
