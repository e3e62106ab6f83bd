-- One row, inserted by pipeline.py.
create table build_info (
    built_at timestamp not null,
    dropline_version varchar not null,
    dbt_version varchar not null,
    duckdb_version varchar not null,
    project_sha256 varchar not null,
    lake_batches varchar[] not null
);

comment on table build_info is 'One row: when and from what this file was built.';

comment on column build_info.built_at is 'When the file was built, UTC.';

comment on column build_info.dropline_version is 'Version of Dropline that built the file.';

comment on column build_info.dbt_version is 'Version of dbt that compiled the models.';

comment on column build_info.duckdb_version is 'Version of DuckDB that wrote the file.';

comment on column build_info.project_sha256 is 'Digest of the models, seeds and suites that made it.';

comment on column build_info.lake_batches is 'Batches of the lake in the file, oldest first.';
