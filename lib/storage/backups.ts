import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge, stackProps, stackSuffix } from '../parts/construct-helpers.ts';
import type { StageConfig } from '../settings/config.ts';
import { stackName } from '../settings/stage-names.ts';

interface BackupsProps {
  readonly config: StageConfig;
  readonly tables: readonly dynamodb.ITableV2[];
  readonly buckets: readonly s3.IBucket[];
}

/** Backups of all state by AWS Backup, every day and on the first day of each month. */
export class Backups extends Construct {
  constructor(scope: Construct, id: string, { config, tables, buckets }: BackupsProps) {
    super(scope, id);
    const { dailyDays, monthlyDays } = config.backup!;
    const vault = new backup.BackupVault(this, 'Vault', {
      backupVaultName: `${Stack.of(this).stackName}-${stackSuffix(this)}`,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const plan = new backup.BackupPlan(this, 'Plan', { backupVault: vault });
    const rule = (ruleName: string, schedule: Schedule, days: number | null) => {
      const deleteAfter = days === null ? undefined : Duration.days(days);
      plan.addRule(
        new backup.BackupPlanRule({
          ruleName,
          scheduleExpression: schedule,
          startWindow: Duration.hours(1),
          completionWindow: Duration.hours(12),
          ...(deleteAfter && { deleteAfter }),
          copyActions: this.#copies(config, ruleName, deleteAfter),
        }),
      );
    };
    rule('Daily', Schedule.cron({ minute: '0', hour: '3' }), dailyDays);
    rule('Monthly', Schedule.cron({ minute: '0', hour: '4', day: '1' }), monthlyDays);
    plan.addSelection('State', {
      role: this.#role(buckets.length > 0),
      resources: [
        ...tables.map(({ tableArn }) => tableArn),
        ...buckets.map(({ bucketArn }) => bucketArn),
      ].map((arn) => backup.BackupResource.fromArn(arn)),
    });
  }

  #copies(
    config: StageConfig,
    rule: string,
    deleteAfter?: Duration,
  ): backup.BackupPlanCopyActionProps[] | undefined {
    const region = config.backup!.copyToRegion;
    if (!region) return undefined;
    const backupVaultArn = Stack.of(this).formatArn({
      service: 'backup',
      region,
      resource: 'backup-vault',
      resourceName: stackName(config, 'copies'),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const destinationBackupVault = backup.BackupVault.fromBackupVaultArn(
      this,
      `${rule}Copies`,
      backupVaultArn,
    );
    return [{ destinationBackupVault, ...(deleteAfter && { deleteAfter }) }];
  }

  #role(backsUpBuckets: boolean): iam.Role {
    const s3Policy = 'AWSBackupServiceRolePolicyForS3Backup';
    const role = new iam.Role(this, 'Role', {
      description: 'AWS Backup: reads the tables and buckets of this stage',
      assumedBy: new iam.ServicePrincipal('backup.amazonaws.com'),
      // The selection adds the policy of tables.
      managedPolicies: backsUpBuckets ? [iam.ManagedPolicy.fromAwsManagedPolicyName(s3Policy)] : [],
    });
    const reason = 'The service needs more with each of its releases: AWS keeps this policy up to date.';
    for (const policy of [s3Policy, 'service-role/AWSBackupServiceRolePolicyForBackup']) {
      acknowledge(role, {
        [`AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`]: reason,
      });
    }
    return role;
  }
}

/** The second region of a stage: the vault that receives a copy of every backup. */
export class BackupCopyStack extends Stack {
  constructor(scope: Construct, id: string, { config }: { readonly config: StageConfig }) {
    super(scope, id, {
      ...stackProps(config, 'copies of backups'),
      env: { account: config.env!.account, region: config.backup!.copyToRegion! },
    });
    new backup.BackupVault(this, 'Vault', {
      backupVaultName: stackName(config, 'copies'),
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }
}
